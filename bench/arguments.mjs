import { parseArgs } from 'node:util';

/** Parts that can be measured alone. */
export const PARTS = ['sqlite', 'postgres', 'growth'];

export const HELP = `npm run bench [-- OPTIONS]

Races the service against other programs, interleaved, and writes docs/performance.md and its chart, in about half an hour.

  --quick        the service and the Fastify program on SQLite, in a minute; writes nothing
  --only PART    one part with short rounds; writes nothing. PART is one of ${PARTS.join(', ')}
  --publish      with --only: the rounds of a full run; writes the results to docs/performance.json and the page
  --check        the service and the Fastify program on both engines; fails if a ratio is more than 10 % below the
                 published one. Ratios differ between machines: use --beside on another machine
  --beside REF   this build and that of commit REF, in turn: the cost of a change, on any machine. SQLite, or
                 PostgreSQL with --only postgres; each build prepares its own database
  --help         this text

Requires two cores, wrk, taskset and, except on SQLite, PostgreSQL. The Go program takes part if its compiler and
libraries are installed. Bun is installed into bench/node_modules.
`;

/** Wrong arguments: reported in one line, exit 2. */
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
    throw new UsageError(`--only must be one of ${PARTS.join(', ')}, not ${only}`);
  if (quick && only !== undefined) throw new UsageError('--quick cannot be combined with --only');
  if (publish && only === undefined) throw new UsageError('--publish requires --only');
  if (check && (quick || only !== undefined))
    throw new UsageError('--check cannot be combined with --quick or --only');
  if (beside !== undefined && (quick || check || publish))
    throw new UsageError('--beside cannot be combined with --quick, --check or --publish');
  if (beside !== undefined && !['sqlite', 'postgres', undefined].includes(only))
    throw new UsageError('--beside allows --only sqlite and --only postgres');
  return { help, quick, only, publish, check, beside };
}
