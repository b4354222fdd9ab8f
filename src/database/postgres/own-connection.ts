import { Socket } from 'node:net';
import { Client } from 'pg';
import { NoAnswer, within } from '../../time/within.js';
import { isHeld } from '../outage.js';
import type { Parameter } from '../statement.js';

/** Of a read, with the time that it takes to connect. */
const ANSWER_TIMEOUT_MS = 700;
/** The server says sooner that a table is locked than the read is given up: it is not away then. */
const LOCK_TIMEOUT_MS = 250;

/**
 * A connection that no request uses, for small reads. It is made when it is needed, and dropped as soon
 * as its state is in doubt: the next read connects anew.
 */
export class OwnConnection {
  private client: Promise<Client> | undefined;
  private socket: Socket | undefined;
  private closed = false;

  /** @param purpose as the database's administrator sees it */
  constructor(
    private readonly url: string,
    private readonly purpose: string,
  ) {}

  async read<Row>(text: string, parameters: readonly Parameter[]): Promise<Row[]> {
    try {
      return await within(ANSWER_TIMEOUT_MS, this.ask<Row>(text, parameters));
    } catch (error) {
      if (!isHeld(error)) this.drop();
      throw error;
    }
  }

  close(): void {
    this.closed = true;
    this.drop();
  }

  private async ask<Row>(text: string, parameters: readonly Parameter[]): Promise<Row[]> {
    const client = await (this.client ??= this.connect());
    // They leave together. The limit is that of the transaction, so that it holds behind a pooler as well.
    const [, , { rows }] = await Promise.all([
      client.query('BEGIN READ ONLY'),
      client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`),
      client.query(text, [...parameters]),
      client.query('COMMIT'),
    ]);
    return rows as Row[];
  }

  private async connect(): Promise<Client> {
    if (this.closed) throw new NoAnswer();
    const socket = new Socket();
    this.socket = socket;
    const client = new Client({
      connectionString: this.url,
      application_name: `petstore ${this.purpose}`,
      keepAlive: true,
      pipeline: true,
      stream: () => socket,
    });
    client.on('error', () => {
      if (this.socket === socket) this.drop();
    });
    await client.connect();
    return client;
  }

  private drop(): void {
    this.socket?.destroy();
    this.socket = undefined;
    this.client = undefined;
  }
}
