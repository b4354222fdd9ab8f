import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { TestStore } from '../../src/testing.js';
import { findEngine } from '../../test/support/engines.js';
import { PostgresServer } from '../../test/support/postgres.js';
import { casesOf, inWords, type Part, type Result, type Run } from '../part.js';
import {
  Create,
  Exhaust,
  Get,
  List,
  type Model,
  Restart,
  Revoke,
  Rotate,
  type System,
} from './commands.js';

const SEQUENCES = { full: 2_500, short: 20 };
const LONGEST = 25;
const SCOPES = ['pets:read', 'pets:write', 'key:rotate'];
/** The service runs as it was built: decorators need the metadata of the compiler. */
const KIT = new URL('../../dist/src/testing.js', import.meta.url).href;

/** The store of one engine. All sequences share it, so the model knows every pet. */
class Store implements System {
  private store!: TestStore;
  key = '';

  constructor(private readonly databaseUrl: string) {}

  async start(): Promise<void> {
    const { startTestStore } = (await import(KIT)) as typeof import('../../src/testing.js');
    this.store = await startTestStore({
      databaseUrl: this.databaseUrl,
      env: { FAILED_AUTH_PER_MINUTE: '1000000', FAILED_AUTH_PER_DAY: '1000000000' },
    });
  }

  close(): Promise<void> {
    return this.store.close();
  }

  async restart(): Promise<void> {
    await this.close();
    await this.start();
  }

  issue(limits: { perMinute?: number; perDay?: number } = {}): Promise<string> {
    return this.store.issueKey({ scopes: SCOPES, ...limits });
  }

  advance(seconds: number): void {
    this.store.clock.advance(seconds);
  }

  fetch(path: string, init: RequestInit & { key?: string } = {}): Promise<Response> {
    return this.store.fetch(path, { key: this.key, ...init });
  }
}

const name = fc.constantFrom('Rex', 'Ünïcode 🐕', '"\\', ' x ');
const status = fc.constantFrom(undefined, 'available', 'pending', 'sold');
const idempotencyKey = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
const commands = fc.commands(
  [
    fc.record({ name, status, idempotencyKey }).map((pet) => new Create(pet)),
    fc.record({ name, status, idempotencyKey }).map((pet) => new Create(pet)),
    fc
      .tuple(status, fc.integer({ min: 1, max: 100 }))
      .map(([each, limit]) => new List(each, limit)),
    fc.nat(200).map((index) => new Get(index)),
    fc.constant(new Rotate()),
    fc.constant(new Revoke()),
    fc.integer({ min: 1, max: 5 }).map((limit) => new Exhaust(limit)),
    fc.constant(new Restart()),
  ],
  { maxCommands: LONGEST },
);

async function check(run: Run, databaseUrl: string): Promise<fc.RunDetails<unknown>> {
  const store = new Store(databaseUrl);
  await store.start();
  const model: Model = { pets: [], records: new Map() };
  const property = fc.asyncProperty(commands, async (sequence) => {
    // A new client for each sequence; pets belong to the store.
    model.records.clear();
    store.key = await store.issue();
    await fc.asyncModelRun(() => ({ model, real: store }), sequence);
  });
  const sequences = run.isShort ? SEQUENCES.short : SEQUENCES.full;
  try {
    return await fc.check<unknown>(
      property as fc.IAsyncPropertyWithHooks<unknown>,
      casesOf(run, sequences),
    );
  } finally {
    await store.close();
  }
}

async function run(run: Run): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-model-'));
  await using postgres = await PostgresServer.start(findEngine('postgres')!);
  const urls = [`sqlite:${join(directory, 'petstore.db')}`, await postgres.createDatabase()];
  const faults: string[] = [];
  let tried = 0;
  let path: string | undefined;
  for (const url of urls) {
    const details = await check(run, url);
    tried += details.numRuns;
    if (!details.failed) continue;
    path = details.counterexamplePath ?? undefined;
    const error = details.errorInstance as Error;
    faults.push(`${url.split(':')[0]}: ${String(details.counterexample)}\n${error.message}`);
  }
  rmSync(directory, { recursive: true, force: true });
  const counts = `${inWords(tried)} sequences of up to ${LONGEST} commands, on both engines`;
  return { tried: counts, figures: {}, faults, ...(path !== undefined && { path }) };
}

export const model: Part = {
  name: 'model',
  promise: 'Sequences of requests have the results that a model of the store has.',
  needs: ['postgres'],
  run,
};
