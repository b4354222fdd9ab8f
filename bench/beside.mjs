// `--beside REF`: loads this build and that of another commit in turn, to see the cost of a change.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { startService } from './field/field.mjs';
import { preparePostgres, prepareSqlite } from './lib/data.mjs';
import { startPostgres } from './lib/engines.mjs';
import { bestOf, runRounds } from './race.mjs';
import { root } from './settings.mjs';

const WORKS = ['list', 'get', 'create', 'keyed'];
/** Pairs of processes: V8 optimises each process differently, by up to a third of a request. */
const PAIRS = 3;

/**
 * @param {'sqlite' | 'postgres'} engine
 * @returns {Promise<{work: string, ratio: number}[]>} requests per second of this build, as a ratio
 *   to those of the commit
 */
export async function beside(stage, pace, commit, engine) {
  const folders = { this: root, other: await buildOf(stage, commit) };
  const server = engine === 'postgres' ? await startPostgres(stage) : undefined;
  const builds = [];
  for (const [id, build] of Object.entries(folders)) {
    builds.push({ id, build, ...(await prepare(stage, server, id, build)) });
  }
  const rounds = new Map(WORKS.map((work) => [work, { this: [], other: [] }]));
  for (let pair = 0; pair < (pace.isShort ? 1 : PAIRS); pair++) {
    const servers = [];
    for (const { id, build, databaseUrl, keyFile } of builds) {
      const running = await startService(stage, databaseUrl, { name: id, build });
      servers.push({ id, running, keyFile });
    }
    for (const work of WORKS) {
      const runners = servers.map((each) => ({ id: each.id, server: each, work }));
      for (const entry of await runRounds(stage, runners, pace)) {
        rounds.get(work)[entry.id].push(...entry.rounds);
      }
    }
    for (const { running } of servers) await running.stop();
  }
  return WORKS.map((work) => compare(work, rounds.get(work), commit));
}

async function prepare(stage, server, id, build) {
  if (server === undefined) {
    const { file, keyFile } = await prepareSqlite(stage, id, { build });
    return { databaseUrl: `sqlite:${file}`, keyFile };
  }
  const { urls, keyFile } = await preparePostgres(stage, server.url, [`build_${id}`], { build });
  return { databaseUrl: urls[0], keyFile };
}

function compare(work, { this: here, other: there }, commit) {
  const [one, other] = [bestOf(here), bestOf(there)];
  const ratio = one.perSecond / other.perSecond;
  const [rate, cost] = [ratio, one.cpuMicros / other.cpuMicros].map((each) => each.toFixed(2));
  console.log(`${work}: ${rate} times the requests/s, ${cost} times the CPU time of ${commit}`);
  return { work, ratio };
}

/** Builds another commit; with the packages of this clone if they are equal. @returns its folder */
async function buildOf(stage, commit) {
  const folder = stage.path('other-build');
  const archive = stage.path('other.tar');
  mkdirSync(folder);
  await stage.run('git', ['-C', root, 'archive', '--output', archive, commit]);
  await stage.run('tar', ['-xf', archive, '-C', folder]);
  const [here, there] = [root, `${folder}/`].map((at) => readFileSync(`${at}package-lock.json`));
  if (here.equals(there)) symlinkSync(`${root}node_modules`, `${folder}/node_modules`);
  else await stage.run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  await stage.run('npm', ['run', '--silent', 'build:service'], { cwd: folder });
  return `${folder}/`;
}
