import type { DataSource } from 'typeorm';

/** Inserts a row if its claim admits it, and then returns a row. */
type Insert = (claim: readonly (string | number)[]) => Promise<unknown[]>;

/** Decides on PostgreSQL whether a row is inserted. */
export interface Claim {
  /** The types of its parameters. */
  readonly types: readonly string[];
  /**
   * An INSERT from the table `input`, which has the parameters as `c1`, `c2`, .... It returns the
   * first two for each row that is to be inserted.
   */
  readonly text: string;
}

const HANDLER = 'A handler with @Idempotent({ singleInsert: true })';

/**
 * The one insert of a request, which is carried out when its response is known. On PostgreSQL, one
 * statement then writes the rows and responses of all requests of a tick.
 */
export class LaterInsert {
  /** Called after the insert. */
  readonly callbacks: (() => void)[] = [];
  private insert: Insert | undefined;

  constructor(readonly claim: Claim) {}

  /** @throws {Error} for a second insert */
  set(insert: Insert): void {
    if (this.insert !== undefined) throw new Error(`${HANDLER} inserts more than one row`);
    this.insert = insert;
  }

  /**
   * @param claim the parameters of the claim
   * @returns whether the row was inserted
   */
  async run(claim: readonly (string | number)[]): Promise<boolean> {
    if (this.insert === undefined) throw new Error(`${HANDLER} inserts no row`);
    const inserted = await this.insert(claim);
    if (inserted.length === 0) return false;
    for (const callback of this.callbacks) callback();
    return true;
  }
}

/** @returns undefined on SQLite, whose transactions share their commits */
export function laterInsert({ options }: DataSource, claim: Claim): LaterInsert | undefined {
  return options.type === 'postgres' ? new LaterInsert(claim) : undefined;
}
