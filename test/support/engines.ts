import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Postgres } from './postgres.js';

/** Programs that some tests need, and their Debian packages. */
const ENGINES = {
  chromium: { program: 'chromium', package: 'chromium', beside: [] },
  redis: { program: 'redis-server', package: 'redis-server', beside: [] },
  nginx: { program: 'nginx', package: 'nginx', beside: ['/usr/sbin'] },
  pgbouncer: { program: 'pgbouncer', package: 'pgbouncer', beside: ['/usr/sbin'] },
  promtool: { program: 'promtool', package: 'prometheus', beside: [] },
  postgres: {
    program: 'initdb',
    package: 'postgresql',
    beside: [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`),
  },
} as const;

export type EngineName = keyof typeof ENGINES;

/** The path of the program of an engine; undefined if it is not installed. */
export function findEngine(name: EngineName): string | undefined {
  const { program, beside } = ENGINES[name];
  return find(program, beside);
}

function find(program: string, beside: readonly string[] = []): string | undefined {
  const folders = [...beside, ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/**
 * `it`, or `it.skip` if a program that the test runs is missing. In CI the test runs, and fails.
 */
export function itWith(program: string): jest.It {
  return find(program) === undefined && process.env['CI'] !== 'true' ? it.skip : it;
}

/**
 * A `describe` of tests on a real engine. If its program is missing, the tests are skipped and
 * their name says so; in CI they fail.
 */
export function describeWith(
  name: EngineName,
  title: string,
  tests: (program: string) => void,
): void {
  const program = findEngine(name);
  if (program !== undefined) {
    describe(title, () => tests(program));
    return;
  }
  const missing = `${ENGINES[name].program} is missing: apt-get install ${ENGINES[name].package}`;
  const declare = process.env['CI'] === 'true' ? it : it.skip;
  declare(`${title} (${missing})`, () => {
    throw new Error(missing);
  });
}

/** A `describe` of tests on the PostgreSQL that all files of `npm run test:engines` share. */
export function describeOnPostgres(title: string, tests: (server: Postgres) => void): void {
  describeWith('postgres', title, () => tests(new Postgres(process.env['TEST_POSTGRES_URL']!)));
}
