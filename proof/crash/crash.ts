import { copyFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { Client } from '../../test/support/client.js';
import { findEngine } from '../../test/support/engines.js';
import type { Served, Workplace } from '../../test/support/petstore-process.js';
import { PostgresServer } from '../../test/support/postgres.js';
import { Random } from '../../test/support/random.js';
import { callTool, listCall } from '../../test/support/tools.js';
import { workplaceWithTools } from '../../test/support/workplace-with-orders.js';
import { inWords, type Part, type Result, type Run } from '../part.js';
import { type Entry, Ledger } from './ledger.js';
import { listAll } from './list-all.js';

const KILLS = { full: 200, short: 3 };
const WRITERS = 16;
/** Writers by an extension that injects requests, beside them. */
const TOOL_WRITERS = 4;
/** A kill comes after so many acknowledged creates, at most. */
const MOST_WRITES = 120;
const AMPLE = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000000'];
const ENV = { NODE_ENV: 'production', LOG_LEVEL: 'error', METRICS_PORT: '0' };

interface Clients {
  direct: Client;
  /** The caller of the extension. */
  tool: Client;
}

type Engine = 'SQLite' | 'PostgreSQL';

/** Kills the server of one engine again and again, and audits what is left. */
class Crashes {
  readonly faults: string[] = [];
  slowestStartMs = 0;
  private readonly random: Random;
  private readonly ledger: Ledger;
  private readonly keys: string[] = [];

  constructor(
    private readonly engine: Engine,
    private readonly workplace: Workplace,
    seed: number,
  ) {
    this.random = new Random(seed);
    this.ledger = new Ledger(this.random);
  }

  get creates(): number {
    return this.ledger.entries.length;
  }

  async run(kills: number): Promise<void> {
    await this.workplace.run('migrate');
    const issue = ['keys', 'issue', '--name', 'crash', ...AMPLE];
    for (let count = 0; count < 2; count++) {
      this.keys.push(((await this.workplace.json(...issue)) as { key: string }).key);
    }
    let unsure: readonly Entry[] = [];
    for (let round = 0; round < kills && this.faults.length === 0; round++) {
      const before = this.creates;
      await this.withServer(async (server, clients) => {
        await this.repeat(clients, unsure, round);
        await this.writeUntilKilled(server, clients, round);
      });
      this.checkFile();
      unsure = this.ledger.entries.slice(before);
    }
    await this.withServer(async (_, clients) => {
      await this.repeat(clients, unsure, kills);
      this.faults.push(...this.ledger.audit(await listAll(clients.direct)));
    });
  }

  private async withServer(
    use: (server: Served, clients: Clients) => Promise<void>,
  ): Promise<void> {
    const startedAt = performance.now();
    const server = await this.workplace.serve();
    this.slowestStartMs = Math.max(this.slowestStartMs, performance.now() - startedAt);
    const [direct, tool] = this.keys.map((key) => new Client(server.origin, key));
    try {
      await use(server, { direct: direct!, tool: tool! });
    } finally {
      direct!.close();
      tool!.close();
      await server.stop('SIGKILL');
    }
    if (server.output() !== '') this.faults.push(`the server logged errors: ${server.output()}`);
  }

  /** The kill comes while other creates are in progress. */
  private async writeUntilKilled(server: Served, clients: Clients, round: number): Promise<void> {
    let left = 1 + this.random.below(MOST_WRITES);
    const write = async (isInjected: boolean): Promise<void> => {
      while (left > 0) {
        const entry = this.ledger.next(round, isInjected);
        const answer = await send(clients, entry).catch(() => undefined);
        if (answer === undefined) {
          if (left > 0) this.fault(round, 'the server ended by itself');
          left = 0;
          continue;
        }
        if (answer.status !== 201) this.fault(round, `status ${answer.status}: ${answer.text}`);
        else entry.acknowledged = answer.text;
        left--;
        if (left === 0) await server.stop('SIGKILL');
      }
    };
    const rollBack = async (): Promise<void> => {
      while (left > 0) {
        await callTool(clients.tool, listCall(), 'call-and-roll-back').catch(() => undefined);
      }
    };
    const writers = Array.from({ length: WRITERS + TOOL_WRITERS }, (_, index) =>
      write(index >= WRITERS),
    );
    await Promise.all([...writers, rollBack()]);
  }

  /** Repeats every create before the last kill: the client cannot know which of them were stored. */
  private async repeat(clients: Clients, entries: readonly Entry[], kill: number): Promise<void> {
    const answers = await Promise.all(entries.map((entry) => send(clients, entry)));
    for (const [index, { status, text, headers }] of answers.entries()) {
      const entry = entries[index]!;
      if (status !== 201) this.fault(kill, `repeat of ${entry.body}: ${status} ${text}`);
      if (entry.acknowledged === undefined) {
        entry.acknowledged = text;
      } else if (entry.acknowledged !== text || headers['idempotent-replayed'] !== 'true') {
        this.fault(kill, `was acknowledged as ${entry.acknowledged}, repeated as ${text}`);
      }
    }
  }

  /** Reads a copy: opening the file would recover it before the server does. */
  private checkFile(): void {
    if (this.engine !== 'SQLite') return;
    const { databaseFile } = this.workplace;
    const copy = `${databaseFile}.copy`;
    for (const suffix of ['', '-wal']) copyFileSync(databaseFile + suffix, copy + suffix);
    const database = new Sqlite(copy);
    const integrity = database.pragma('integrity_check', { simple: true });
    database.close();
    if (integrity !== 'ok') this.faults.push(`integrity_check: ${String(integrity)}`);
  }

  private fault(kills: number, text: string): void {
    this.faults.push(`${this.engine}, after ${kills} kills: ${text}`);
  }
}

function send({ direct, tool }: Clients, { body, idempotencyKey, isInjected }: Entry) {
  const headers = { 'idempotency-key': idempotencyKey, 'content-type': 'application/json' };
  if (!isInjected) return direct.post('/v1/pets', body, headers);
  return callTool(tool, { method: 'POST', url: '/v1/pets', headers, body });
}

async function run({ seed, isShort }: Run): Promise<Result> {
  const kills = isShort ? KILLS.short : KILLS.full;
  await using postgres = await PostgresServer.start(findEngine('postgres')!);
  using onSqlite = workplaceWithTools(ENV);
  const databaseUrl = await postgres.createDatabase();
  using onPostgres = workplaceWithTools({ ...ENV, DATABASE_URL: databaseUrl });
  const engines = [
    new Crashes('SQLite', onSqlite, seed),
    new Crashes('PostgreSQL', onPostgres, seed + 1),
  ];
  // Each uses one core.
  await Promise.all(engines.map((each) => each.run(kills)));
  const starts = engines.map(({ slowestStartMs }) => `${(slowestStartMs / 1_000).toFixed(1)} s`);
  return {
    tried: `${kills} kills on each engine, under ${inWords(engines[0]!.creates)} and ${inWords(engines[1]!.creates)} creates`,
    figures: {
      'slowest start until ready, on SQLite and PostgreSQL (promised: 3 s)': starts.join(', '),
    },
    faults: engines.flatMap(({ faults }) => faults),
  };
}

export const crash: Part = {
  name: 'crash',
  tries:
    '`kill -9` of the server while 16 callers create pets, and four more by an extension that injects requests beside a transaction that is rolled back, on SQLite and on PostgreSQL',
  holds:
    'every acknowledged pet exists exactly once; a repeat with the same `Idempotency-Key` returns the acknowledged response to its client; no id is used twice; `integrity_check` reports nothing',
  needs: ['postgres'],
  run,
};
