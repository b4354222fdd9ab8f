// `npm run bench -- --beside REF`: this build beside that of another commit. The ratios to the floor differ from
// machine to machine, for ours spends its time in other places than the floor does: whether a change costs anything, two
// builds on one machine tell.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { run } from './children.mjs';
import { median, ratioOf, runRounds } from './compare.mjs';
import { migrate, prepareSqlite, writeKeys } from './data.mjs';
import { startOurs } from './servers.mjs';
import { ANIMALS, root } from './settings.mjs';

const WORKS = ['list', 'get', 'create'];
/** Of processes: how V8 happens to optimise one of them stays with it, and may be a third of a request. */
const PAIRS = 3;

/** On SQLite; prints what each work takes of the processor, as a ratio. */
export async function beside(stage, pace, commit) {
  const other = await buildOf(stage, commit);
  // By the other's own schema, as this one finds it when it comes after.
  const { file, keys } = await prepareSqlite(stage, 'other', { animals: ANIMALS, build: other });
  const copy = stage.path('this.db');
  copyFileSync(file, copy);
  await migrate(stage, `sqlite:${copy}`);
  const keyFile = writeKeys(stage, 'keys', keys);
  const builds = [
    { databaseUrl: `sqlite:${copy}`, name: 'this' },
    { databaseUrl: `sqlite:${file}`, name: 'other', build: other },
  ];
  const figures = new Map(WORKS.map((work) => [work, { this: [], other: [] }]));
  for (let pair = 0; pair < PAIRS; pair++) {
    const servers = [];
    for (const build of builds) servers.push({ running: await startOurs(stage, build), keyFile });
    for (const work of WORKS) {
      const measured = await runRounds(servers, work, pace);
      for (const [name, { rounds }] of measured) figures.get(work)[name].push(...rounds);
    }
    for (const { running } of servers) await running.stop();
  }
  for (const [work, rounds] of figures) print(work, rounds, commit);
}

function print(work, { this: here, other: there }, commit) {
  const { ratio, least, most } = ratioOf(here, there, (each) => each.processorMicros);
  const [costs, from, to] = [ratio, least, most].map((each) => each.toFixed(2));
  const micros = [here, there].map(
    (rounds) => `${median(rounds.map(({ processorMicros }) => processorMicros)).toFixed(1)} µs`,
  );
  console.log(
    `${work.padEnd(6)} costs ${costs} of what it costs at ${commit} (${from}-${to}): ${micros.join(' and ')}`,
  );
}

/** The folder of a build, with the packages that are installed here. @throws where there is no such commit */
async function buildOf(stage, commit) {
  const folder = stage.path('other-build');
  const archive = stage.path('other.tar');
  mkdirSync(folder);
  await run('git', ['-C', root, 'archive', '--output', archive, commit]);
  await run('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(`${root}node_modules`, `${folder}/node_modules`);
  await run('npm', ['run', '--silent', 'build:service'], { cwd: folder });
  return `${folder}/`;
}
