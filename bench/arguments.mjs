import { parseArgs } from 'node:util';

/** What can be measured by itself. */
export const PARTS = ['sqlite', 'postgres', 'redis', 'growth'];

export const HELP = `npm run bench [-- OPTIONS]

Measures the service beside other programs, interleaved, and writes docs/performance.md and its chart.

  --quick        ours and the floor program on SQLite alone, in a minute; writes nothing
  --only PART    one part with short rounds; writes nothing. PART is one of ${PARTS.join(', ')}
  --publish      with --only: writes what it measured to docs/performance.json, and the page anew
  --check        ours and the floor on every engine; names what got worse by over 10 % since the figures that
                 are published, by their ratios, and fails where something did: on another machine than theirs
                 those differ by themselves
  --beside REF   this build and that of another commit, in turn: what a change costs, on any machine; on SQLite, or
                 with --only postgres on PostgreSQL. Each build prepares its own database
  --help         this text

It needs two cores, wrk and taskset; all but --quick and --beside also PostgreSQL and redis-server. The
whole, --only sqlite and --publish need the other programs, too: npm ci --prefix bench && npm ci --prefix bench/directus
`;

/** The command line was wrong: one line about it, and exit 2. */
export class UsageError extends Error {}

/**
 * @returns {{help: boolean, quick: boolean, only: string | undefined, publish: boolean, check: boolean,
 *   beside: string | undefined}}
 * @throws {UsageError}
 */
export function readArguments(args) {
  const options = {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    publish: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    beside: { type: 'string' },
  };
  let values;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { help, quick, only, publish, check, beside } = values;
  if (only !== undefined && !PARTS.includes(only))
    throw new UsageError(`--only takes one of ${PARTS.join(', ')}`);
  if (quick && only !== undefined) throw new UsageError('--quick is a part by itself: no --only');
  if (publish && only === undefined) throw new UsageError('--publish goes with --only');
  if (check && (quick || only !== undefined))
    throw new UsageError('--check is a run by itself: no --quick, no --only');
  if (beside !== undefined && (quick || check || publish))
    throw new UsageError('--beside is a run by itself: no --quick, no --check, no --publish');
  if (beside !== undefined && !['sqlite', 'postgres', undefined].includes(only))
    throw new UsageError('--beside takes --only sqlite or --only postgres');
  return { help, quick, only, publish, check, beside };
}
