// `npm run bench -- --beside REF`: loads this build and that of another commit in turn. Unlike ratios to the floor
// program, which differ between machines, this shows the cost of a change on any machine.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { run } from './children.mjs';
import { median, ratioOf, runRounds } from './compare.mjs';
import { preparePostgres, prepareSqlite, writeKeys } from './data.mjs';
import { startPostgres } from './engines.mjs';
import { startService } from './field/field.mjs';
import { ANIMALS, root } from './settings.mjs';

const WORKS = { sqlite: ['list', 'get', 'create'], postgres: ['list', 'get', 'create', 'keyed'] };
/** Pairs of processes: V8 optimises each process differently, by up to a third of the time of a request. */
const PAIRS = 3;

/**
 * Prints the ratio of the processor time per request.
 * @param {'sqlite' | 'postgres'} engine
 */
export async function beside(stage, pace, commit, engine = 'sqlite') {
  const folders = { this: root, other: await buildOf(stage, commit) };
  const server = engine === 'postgres' ? await startPostgres(stage) : undefined;
  const builds = [];
  for (const [name, build] of Object.entries(folders)) {
    const { databaseUrl, keys } = await prepare(stage, server, name, build);
    const keyFile = writeKeys(stage, `keys-${name}`, keys);
    const program = `${build}dist/src/main.js`;
    builds.push({ name, program, flags: flagsOf(build), databaseUrl, keyFile });
  }
  const works = WORKS[engine];
  const figures = new Map(works.map((work) => [work, { this: [], other: [] }]));
  for (let pair = 0; pair < PAIRS; pair++) {
    const servers = [];
    for (const build of builds) {
      const { databaseUrl, keyFile, ...options } = build;
      servers.push({ running: await startService(stage, databaseUrl, options), keyFile });
    }
    for (const work of works) {
      const measured = await runRounds(servers, work, pace);
      for (const [name, rounds] of measured) figures.get(work)[name].push(...rounds);
    }
    for (const { running } of servers) await running.stop();
  }
  for (const [work, rounds] of figures) print(work, rounds, commit);
}

async function prepare(stage, server, name, build) {
  if (server === undefined) {
    const { file, keys } = await prepareSqlite(stage, name, { animals: ANIMALS, build });
    return { databaseUrl: `sqlite:${file}`, keys };
  }
  const options = { animals: ANIMALS, databases: [`build_${name}`], build };
  const { urls, keys } = await preparePostgres(stage, server, options);
  return { databaseUrl: urls[0], keys };
}

function print(work, { this: here, other: there }, commit) {
  const { ratio, least, most } = ratioOf(here, there, (each) => each.processorMicros);
  const [costs, from, to] = [ratio, least, most].map((each) => each.toFixed(2));
  const micros = [here, there].map(
    (rounds) => `${median(rounds.map(({ processorMicros }) => processorMicros)).toFixed(1)} µs`,
  );
  console.log(
    `${work.padEnd(6)} takes ${costs} times the processor time of ${commit} (${from}-${to}): ${micros.join(' and ')}`,
  );
}

/** @returns the folder of a build of another commit @throws if there is no such commit */
async function buildOf(stage, commit) {
  const folder = stage.path('other-build');
  const archive = stage.path('other.tar');
  mkdirSync(folder);
  await run('git', ['-C', root, 'archive', '--output', archive, commit]);
  await run('tar', ['-xf', archive, '-C', folder]);
  if (areInstalledHere(`${folder}/package.json`)) {
    symlinkSync(`${root}node_modules`, `${folder}/node_modules`);
  } else {
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  }
  await run('npm', ['run', '--silent', 'build:service'], { cwd: folder });
  return `${folder}/`;
}

/** The flags of Node with which a build starts itself. */
function flagsOf(build) {
  const { scripts } = JSON.parse(readFileSync(`${build}package.json`, 'utf8'));
  return scripts.start.match(/--\S+=\S+/g) ?? [];
}

/** Whether all packages that the other build needs are installed in this clone, whatever their release. */
function areInstalledHere(manifest) {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(manifest, 'utf8'));
  const names = Object.keys({ ...dependencies, ...peerDependencies });
  return names.every((name) => existsSync(`${root}node_modules/${name}`));
}
