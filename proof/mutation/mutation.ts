import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { inWords, type Part, type Result, type Run } from '../part.js';
import { ROOMS } from './scope.mjs';

const CONFIG = 'proof/mutation/stryker.config.mjs';
const REPORT = 'proof/out/mutation.json';
const SURVIVORS = 'proof/mutation/survivors.json';
const LEAST_SCORE = 80;
const KILLED = ['Killed', 'Timeout'];
const SURVIVED = ['Survived', 'NoCoverage'];
/** A sentence that nobody has written: what a run knows. */
const FACT = /^No test of this run executes|^\d+ tests execute/;

interface Mutant {
  mutatorName: string;
  status: string;
  replacement?: string;
  coveredBy?: string[];
  location: { start: { line: number } };
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

interface Survivor {
  file: string;
  line: number;
  /** The line before the mutation. */
  code: string;
  mutation: string;
  /** Kept by hand; until then it says what the run knows. */
  why: string;
}

async function run({ isShort, say }: Run): Promise<Result> {
  const env = Object.assign({}, process.env, { MUTATION_SHORT: String(isShort) });
  const child = spawn('npx', ['stryker', 'run', CONFIG], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) return { tried: 'nothing', figures: {}, faults: [output] };
  const report = JSON.parse(await readFile(REPORT, 'utf8')) as Report;
  const survivors = await survivorsOf(report);
  for (const { file, line, mutation } of survivors) say(`survived: ${file}:${line} ${mutation}`);
  if (!isShort) {
    const text = await format(JSON.stringify(survivors), { parser: 'json', printWidth: 100 });
    await writeFile(SURVIVORS, text);
  }
  return resultOf(report);
}

function resultOf({ files }: Report): Result {
  const mutantsOf = (room: string): Mutant[] =>
    Object.entries(files)
      .filter(([path]) => path.startsWith(`src/core/${room}/`))
      .flatMap(([, { mutants }]) => mutants);
  const all = ROOMS.flatMap(mutantsOf);
  const [killed, survived] = [countOf(all, KILLED), countOf(all, SURVIVED)];
  const rooms = ROOMS.filter((room) => mutantsOf(room).length > 0);
  const scores = rooms.map((room) => [`score of ${room}`, percent(scoreOf(mutantsOf(room)))]);
  const score = scoreOf(all);
  const isLow = score < LEAST_SCORE;
  return {
    tried: `${inWords(killed + survived)} mutants, of which ${percent(score)} were noticed`,
    figures: {
      score: percent(score),
      survivors: survived,
      'by timeout': countOf(all, ['Timeout']),
      ...Object.fromEntries(scores),
    },
    faults: isLow ? [`the score is ${percent(score)}, below ${LEAST_SCORE} %`] : [],
  };
}

function countOf(mutants: readonly Mutant[], statuses: readonly string[]): number {
  return mutants.filter(({ status }) => statuses.includes(status)).length;
}

function scoreOf(mutants: readonly Mutant[]): number {
  return (100 * countOf(mutants, KILLED)) / Math.max(1, countOf(mutants, [...KILLED, ...SURVIVED]));
}

const percent = (score: number): string => `${score.toFixed(1)} %`;

/** The mutants that no test noticed, with the sentences of the last run. */
async function survivorsOf({ files }: Report): Promise<Survivor[]> {
  const known = JSON.parse(await readFile(SURVIVORS, 'utf8')) as Survivor[];
  const keyOf = ({ file, code, mutation }: Survivor): string => [file, code, mutation].join('\n');
  const written = known.filter(({ why }) => !FACT.test(why));
  const sentences = new Map(written.map((each) => [keyOf(each), each.why]));
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants
      .filter(({ status }) => SURVIVED.includes(status))
      .map((mutant) => {
        const { start } = mutant.location;
        const mutation = `${mutant.mutatorName}: ${mutant.replacement ?? ''}`;
        const code = lines[start.line - 1]!.trim();
        const survivor = { file, line: start.line, code, mutation, why: factOf(mutant) };
        return Object.assign(survivor, { why: sentences.get(keyOf(survivor)) ?? survivor.why });
      });
  });
}

/** What a run knows about a survivor. */
function factOf({ coveredBy = [] }: Mutant): string {
  if (coveredBy.length === 0) return 'No test of this run executes this code.';
  return `${coveredBy.length} tests execute this code, and none depends on it.`;
}

export const mutation: Part = {
  name: 'mutation',
  tries:
    'the code of five rooms, changed in one place at a time ([StrykerJS](https://stryker-mutator.io)), against tests of `npm test` alone',
  holds: 'the tests notice at least 80 % of the changes',
  needs: [],
  run,
};
