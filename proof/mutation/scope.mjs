import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** The rooms of `src/core` whose guarantees matter most. */
export const ROOMS = ['rate-limits', 'keys', 'idempotency', 'errors', 'input'];
/** End-to-end tests of these rooms, among those of `npm test`. */
const END_TO_END = ['keys', 'idempotency', 'account', 'admin', 'contract', 'pets'];

function* filesBelow(folder, ending) {
  for (const entry of readdirSync(folder, { recursive: true }).sort()) {
    if (entry.endsWith(ending)) yield `${folder}/${entry}`;
  }
}

/** Other tests of these rooms. */
const OTHER = ['idempotent', 'pages', 'verifier'].map(
  (name) => `test/extensions/${name}.e2e-spec.ts`,
);
/** Its configuration files are CommonJS modules, which Node's own loader reads as Jest does not. */
const LEFT_OUT = ['test/rate-limits/plans.e2e-spec.ts'];

/** `NAME.SUITE.e2e-spec.ts`. */
const OTHER_SUITE = /\.(page|postgres|redis)\.e2e-spec\.ts$/;

/** Fast ones first, because the first failure ends the run of a mutant. */
const ALL_TEST_FILES = [
  ...ROOMS.flatMap((room) => [...filesBelow(`src/core/${room}`, '.spec.ts')]),
  ...END_TO_END.flatMap((folder) => [...filesBelow(`test/${folder}`, '.e2e-spec.ts')]),
  ...OTHER,
  // They send thousands of requests.
  ...filesBelow('test/rate-limits', '.e2e-spec.ts'),
].filter((file) => !LEFT_OUT.includes(file) && !OTHER_SUITE.test(file));

/** The short form mutates one file, and runs the specs of its room. */
const SHORT_FILE = 'src/core/rate-limits/quota-report.ts';
const { MUTATION_SHORT, MUTATION_FILES } = process.env;
const isShort = MUTATION_SHORT === 'true';

export const MUTATED = isShort
  ? SHORT_FILE
  : (MUTATION_FILES ?? `src/core/{${ROOMS.join()}}/**/*.ts`);
export const TEST_FILES = ALL_TEST_FILES.filter(
  (file) => !isShort || file.startsWith(dirname(SHORT_FILE)),
);
