import { batchPerTick } from '../../time/batch-per-tick.js';
import { isOutage } from '../outage.js';
import type { Parameter } from '../statement.js';
import type { PostgresReader } from './postgres.reader.js';
import { asked, byColumn, bySet, type Prepared } from './postgres.statements.js';

/** So many that none waits long for the others. */
const MAX_TOGETHER = 500;

interface LookUp {
  parameters: Parameter[];
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Look-ups that many requests make alike: those of one turn of the event loop are one query. Their answers come
 * together, so what follows from them, a transaction say, can be shared as well.
 */
export class PostgresLookUps {
  private readonly turns = new Map<Prepared, (lookUp: LookUp) => void>();

  constructor(private readonly read: PostgresReader['read']) {}

  /** Resolves to the rows, or what is to be made of them. @throws what the driver throws */
  find(prepared: Prepared, parameters: Parameter[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.turnOf(prepared)({ parameters, resolve, reject });
    });
  }

  private turnOf(prepared: Prepared): (lookUp: LookUp) => void {
    let turn = this.turns.get(prepared);
    if (turn === undefined) {
      const conclude = (lookUps: LookUp[]): void => void this.conclude(prepared, lookUps);
      this.turns.set(prepared, (turn = batchPerTick(conclude, () => MAX_TOGETHER)));
    }
    return turn;
  }

  private async conclude(prepared: Prepared, lookUps: LookUp[]): Promise<void> {
    if (lookUps.length === 1) return this.findAlone(prepared, lookUps[0]!);
    try {
      const sets = lookUps.map(({ parameters }) => parameters);
      const rows = await this.read(asked(prepared.many!, byColumn(sets)));
      const found = bySet(prepared, rows, lookUps.length);
      lookUps.forEach(({ resolve }, place) => resolve(found[place]!));
    } catch (error) {
      if (isOutage(error)) for (const { reject } of lookUps) reject(error);
      // Each stands for itself: one that fails fails alone.
      else await Promise.all(lookUps.map((each) => this.findAlone(prepared, each)));
    }
  }

  private async findAlone({ one, toValue }: Prepared, lookUp: LookUp): Promise<void> {
    const { parameters, resolve, reject } = lookUp;
    await this.read(asked(one, parameters), toValue).then(resolve, reject);
  }
}
