// Checks that every test, script and command that a table of the documentation names exists.
//
// The column "test" of a table holds code spans: `keys/authentication` (a file below test or src),
// `npm run proof:fuzz` (a script), optionally followed by the title of a test in quotes.
import { existsSync, readFileSync } from 'node:fs';

const PAGES = ['docs/architecture.md', 'docs/reliability.md', 'docs/security.md'];
const CELL = /`([^`]+)`(?: "([^"]+)")?/g;
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

function cellsOf(line) {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The cells below each header that contains "test", with the number of their line. */
function* namedTests(text) {
  let column = -1;
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('|')) {
      column = -1;
    } else if (column === -1) {
      column = cellsOf(line).findIndex((cell) => /\btest\b/i.test(cell));
      if (column === -1) column = Infinity;
    } else if (!/^[|\s:-]+$/.test(line) && column !== Infinity) {
      yield { line: index + 1, cell: cellsOf(line)[column] ?? '' };
    }
  }
}

function fileOf(name) {
  const files = [
    `test/${name}.e2e-spec.ts`,
    `src/core/${name}.spec.ts`,
    `src/${name}.spec.ts`,
    name,
  ];
  return files.find((file) => existsSync(file));
}

/** What is wrong with a name; undefined if it exists. */
function faultOf(name, title) {
  const [, script] = /^npm run (\S+)/.exec(name) ?? [];
  if (script !== undefined) return script in scripts ? undefined : `no script ${script}`;
  const file = fileOf(name);
  if (file === undefined) return `no test ${name}`;
  const hasTitle = title === undefined || readFileSync(file, 'utf8').includes(title);
  return hasTitle ? undefined : `no test "${title}" in ${file}`;
}

const faults = PAGES.flatMap((page) =>
  [...namedTests(readFileSync(page, 'utf8'))].flatMap(({ line, cell }) => {
    const names = [...cell.matchAll(CELL)];
    const found = names.map(([, name, title]) => faultOf(name, title)).filter(Boolean);
    if (names.length === 0) found.push('the row names no test');
    return found.map((fault) => `${page}:${line}: ${fault}`);
  }),
);
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exit(1);
