import { takeFirst } from '../database/in-batches.js';
import {
  LATEST_TOLD,
  type Refusal,
  type RefusalsOfClient,
  toSavedId,
  type UsageLedger,
} from './usage-ledger.js';

const MOST_CLIENTS = 10_000;
/** Each is a row of its own: so many clients' are saved each time, those that wait longest first. */
const SAVED_AT_ONCE = 100;

/** Why clients were refused of late, as one process knows it. */
export class LatestRefusals {
  private readonly refused = new Map<string, RefusalsOfClient & { refusals: Refusal[] }>();
  private readonly unsaved = new Set<string>();

  constructor(
    private readonly ledger: UsageLedger,
    private readonly writer: string,
  ) {}

  remember(clientId: string, refusal: Refusal): void {
    let latest = this.refused.get(clientId);
    if (latest === undefined) {
      if (this.refused.size >= MOST_CLIENTS) {
        this.refused.clear();
        this.unsaved.clear();
      }
      latest = { clientId: toSavedId(clientId), writer: this.writer, refusals: [] };
      this.refused.set(clientId, latest);
    }
    if (latest.refusals.push(refusal) > LATEST_TOLD) latest.refusals.shift();
    this.unsaved.add(clientId);
  }

  /**
   * Of many clients a part: what is not saved this time has its turn, at the latest when all are.
   * @param areAll for there is no next time
   */
  async save(areAll: boolean): Promise<void> {
    const batch = takeFirst(this.unsaved, areAll ? Infinity : SAVED_AT_ONCE);
    if (batch.length === 0) return;
    try {
      const latest = batch.map((client) => this.refused.get(client));
      await this.ledger.saveRefusals(latest.filter((each) => each !== undefined));
    } catch (error) {
      for (const client of batch) this.unsaved.add(client);
      throw error;
    }
  }
}
