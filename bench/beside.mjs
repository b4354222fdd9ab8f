// `npm run bench -- --beside REF`: this build beside that of another commit. The ratios to the floor differ from
// machine to machine, for ours spends its time in other places than the floor does: whether a change costs anything, two
// builds on one machine tell.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { run } from './children.mjs';
import { ratioOf, runRounds } from './compare.mjs';
import { migrate, prepareSqlite, writeKeys } from './data.mjs';
import { startOurs } from './servers.mjs';
import { ANIMALS, root } from './settings.mjs';

const WORKS = ['list', 'get', 'create'];

/** On SQLite; prints what each work takes of the processor, as a ratio. */
export async function beside(stage, pace, commit) {
  const other = await buildOf(stage, commit);
  // By the other's own schema, as this one finds it when it comes after.
  const { file, keys } = await prepareSqlite(stage, 'other', { animals: ANIMALS, build: other });
  const copy = stage.path('this.db');
  copyFileSync(file, copy);
  await migrate(stage, `sqlite:${copy}`);
  const keyFile = writeKeys(stage, 'keys', keys);
  const servers = [
    await startOurs(stage, { databaseUrl: `sqlite:${copy}`, name: 'this' }),
    await startOurs(stage, { databaseUrl: `sqlite:${file}`, name: 'other', build: other }),
  ].map((running) => ({ running, keyFile }));
  for (const work of WORKS) {
    const figures = await runRounds(servers, work, pace);
    const [here, there] = ['this', 'other'].map((name) => figures.get(name));
    const { ratio, least, most } = ratioOf(
      here.rounds,
      there.rounds,
      (each) => each.processorMicros,
    );
    const [costs, from, to] = [ratio, least, most].map((each) => each.toFixed(2));
    const micros = [here, there].map(({ processorMicros }) => `${processorMicros.toFixed(1)} µs`);
    console.log(
      `${work.padEnd(6)} costs ${costs} of what it costs at ${commit} (${from}-${to}): ${micros.join(' and ')}`,
    );
  }
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
