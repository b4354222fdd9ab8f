import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { inWords, type Part, type Result, type Run } from '../part.js';

const REPORT = 'proof/out/mutation.json';
const SURVIVORS = 'proof/mutation/survivors.json';
const LEAST_SCORE = 80;
/** Small, and its spec is beside it. */
const SHORT_FILE = 'src/rate-limits/quota-report.ts';

interface Mutant {
  mutatorName: string;
  status: string;
  replacement?: string;
  location: { start: { line: number } };
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

/** A sentence for each survivor that is accepted: the mutated line of code, and why. */
type Accepted = Record<string, string>;

async function run({ isShort, say }: Run): Promise<Result> {
  const config = 'proof/mutation/stryker.config.mjs';
  const env = Object.assign({}, process.env, isShort && { MUTATION_FILES: SHORT_FILE });
  const child = spawn('npx', ['stryker', 'run', config], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) return { tried: 'nothing', figures: {}, faults: [output] };
  const report = JSON.parse(await readFile(REPORT, 'utf8')) as Report;
  const accepted = JSON.parse(await readFile(SURVIVORS, 'utf8')) as Accepted;
  const mutants = Object.values(report.files).flatMap((file) => file.mutants);
  const count = (...names: string[]): number =>
    mutants.filter(({ status }) => names.includes(status)).length;
  const [killed, survived] = [count('Killed', 'Timeout'), count('Survived', 'NoCoverage')];
  const score = (100 * killed) / Math.max(1, killed + survived);
  for (const line of survivorsOf(report, accepted)) say(`   survived: ${line}`);
  const faults =
    score < LEAST_SCORE ? [`the score is ${score.toFixed(1)} %, below ${LEAST_SCORE} %`] : [];
  return {
    tried: `${inWords(killed + survived)} mutants`,
    figures: { score: `${score.toFixed(1)} %`, survivors: survived },
    faults,
  };
}

/** One line for each survivor; the sentence of an accepted one follows. */
function survivorsOf({ files }: Report, accepted: Accepted): string[] {
  return Object.entries(files).flatMap(([path, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants
      .filter(({ status }) => ['Survived', 'NoCoverage'].includes(status))
      .map(({ location: { start }, replacement = '', mutatorName }) => {
        const code = lines[start.line - 1]!.trim();
        const sentence = accepted[`${path}: ${code}`] ?? 'no sentence yet';
        return `${path}:${start.line} ${mutatorName} ${code} -> ${replacement} (${sentence})`;
      });
  });
}

export const mutation: Part = {
  name: 'mutation',
  tries:
    'the code of five rooms, changed in one place at a time ([StrykerJS](https://stryker-mutator.io)), against tests of `npm test` alone',
  holds: 'the tests notice at least 80 % of the changes',
  needs: [],
  run,
};
