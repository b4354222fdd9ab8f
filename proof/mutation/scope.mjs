import { readdirSync } from 'node:fs';

/** The rooms whose guarantees matter most. */
export const ROOMS = ['rate-limits', 'keys', 'idempotency', 'errors', 'input'];
/** End-to-end tests of these rooms, among those of `npm test`. */
const END_TO_END = ['keys', 'rate-limits', 'idempotency', 'account', 'admin', 'contract', 'pets'];

function* filesBelow(folder, ending) {
  for (const entry of readdirSync(folder, { recursive: true }).sort()) {
    if (entry.endsWith(ending)) yield `${folder}/${entry}`;
  }
}

/** Its configuration files are CommonJS modules, which Node's own loader reads as Jest does not. */
const LEFT_OUT = ['test/rate-limits/plans.e2e-spec.ts'];

/** Fast ones first, because the first failure ends the run of a mutant. */
export const TEST_FILES = [
  ...ROOMS.flatMap((room) => [...filesBelow(`src/${room}`, '.spec.ts')]),
  ...END_TO_END.flatMap((folder) => [...filesBelow(`test/${folder}`, '.e2e-spec.ts')]),
].filter((file) => !LEFT_OUT.includes(file));
