import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { format } from 'prettier';
import type { Result } from './part.js';

const PAGE = 'docs/reliability.md';
const DATA = 'docs/reliability.json';
const [BEGIN, END] = ['<!-- results -->', '<!-- end of results -->'];

interface Recorded extends Omit<Result, 'faults' | 'path'> {
  seed: number;
  seconds: number;
  faults: number;
  commit: string;
  date: string;
  machine: string;
}

type Records = Record<string, Recorded>;

/** Stores the result of a full run of a part, and writes the page. */
export async function recordResult(
  name: string,
  { path, faults, ...rest }: Result & { seed: number; seconds: number },
): Promise<void> {
  const records = JSON.parse(await readFile(DATA, 'utf8')) as Records;
  void path;
  records[name] = {
    ...rest,
    faults: faults.length,
    commit: execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim(),
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`,
  };
  await writeFile(DATA, `${JSON.stringify(records, undefined, 2)}\n`);
  const page = await readFile(PAGE, 'utf8');
  const [before, after] = [page.split(BEGIN)[0], page.split(END)[1]];
  const text = `${before}${BEGIN}\n\n${tableOf(records)}\n\n${END}${after}`;
  await writeFile(PAGE, await format(text, { parser: 'markdown' }));
}

function tableOf(records: Records): string {
  const rows = Object.entries(records).map(([name, result]) => {
    const { tried, seed, faults, seconds, commit, date } = result;
    const command = `npm run proof:${name} -- --seed ${seed}`;
    return `| \`${command}\` | ${tried} | ${faults} | ${seconds} s | ${commit}, ${date} |`;
  });
  return [
    '| command of the last full run | tried | faults | time | commit, date |',
    '| --- | --- | ---: | ---: | --- |',
    ...rows,
  ].join('\n');
}
