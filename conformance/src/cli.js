import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { badge, junit, requirements, runConformance, text, UsageError } from './index.js';
import { line } from './report.js';

const USAGE = `usage: pet-store-conformance URL [options]

URL is the base address with /v1, for example http://localhost:3000/v1.

  --level LEVEL              core, manners, quota or exact; may be repeated
  --only NAME                one check, or a group (manners.http); may be repeated
  --node URL                 the address of another node; may be repeated
  --proxy URL                the address of a proxy, for the checks of request smuggling
  --expected-failures FILE   JSON: names of checks that fail, each with its reason
  --json                     the report as JSON on standard output
  --junit FILE               the report in JUnit's format
  --badge FILE               an SVG that names the levels without a failed or skipped check
  --list                     the requirements, as JSON; no server needed

PETSTORE_KEY is required. PETSTORE_SMALL_KEY (at most 100 requests a minute; it is used up),
PETSTORE_READ_KEY (only pets:read) and PETSTORE_SPARE_KEY (with key:rotate; it is rotated and
revoked) are optional; what needs them is skipped without them.
`;

const OPTIONS = {
  level: { type: 'string', multiple: true },
  only: { type: 'string', multiple: true },
  node: { type: 'string', multiple: true },
  proxy: { type: 'string' },
  'expected-failures': { type: 'string' },
  json: { type: 'boolean' },
  junit: { type: 'string' },
  badge: { type: 'string' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/**
 * Runs the command line.
 * @param {string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<number>} the exit code: 0, 1 if the deployment does not conform, 2 for misuse
 */
export async function main(args, env) {
  try {
    return await run(args, env);
  } catch (error) {
    const isUsage = error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
    process.stderr.write(`pet-store-conformance: ${error.message.split('\n')[0]}\n`);
    return isUsage ? 2 : 1;
  }
}

async function run(args, env) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) return print(USAGE);
  if (values.list) return print(`${JSON.stringify(requirements(), null, 2)}\n`);
  if (positionals.length !== 1) {
    throw new UsageError('give one base address, as in http://localhost:3000/v1, or --help');
  }
  const say = values.json ? () => {} : print;
  const report = await runConformance({
    url: positionals[0],
    nodes: values.node,
    proxy: values.proxy,
    levels: values.level,
    only: values.only,
    expectedFailures: failuresFrom(values['expected-failures']),
    keys: {
      main: env.PETSTORE_KEY,
      small: env.PETSTORE_SMALL_KEY,
      read: env.PETSTORE_READ_KEY,
      spare: env.PETSTORE_SPARE_KEY,
    },
    onResult: (result) => say(`${line(result)}\n`),
    onWait: (seconds, count) =>
      process.stderr.write(`waiting ${seconds} s for the next window; ${count} checks are left\n`),
  });
  if (values.junit !== undefined) writeFileSync(values.junit, junit(report));
  if (values.badge !== undefined) writeFileSync(values.badge, badge(report));
  if (values.json) print(`${JSON.stringify(report, null, 2)}\n`);
  say(text(report));
  return report.ok ? 0 : 1;
}

function print(output) {
  process.stdout.write(output);
  return 0;
}

function failuresFrom(file) {
  if (file === undefined) return {};
  try {
    const failures = JSON.parse(readFileSync(file, 'utf8'));
    if (Object.values(failures).every((reason) => typeof reason === 'string')) return failures;
  } catch (error) {
    throw new UsageError(`${file}: ${error.message}`);
  }
  throw new UsageError(`${file}: must be an object of names and reasons`);
}
