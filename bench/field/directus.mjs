// Directus on SQLite, with a static token and its rate limiter on.
import Database from 'better-sqlite3';
import { run } from '../children.mjs';
import { writeKeys } from '../data.mjs';
import { PAGE, root, UNLIMITED } from '../settings.mjs';
import { answers, freePort } from '../stage.mjs';

const PROGRAM = `${root}bench/directus/node_modules/directus/cli.js`;
const TOKEN = 'static-token-of-the-bench';

/** @returns the server that `load` takes */
export async function startDirectus(stage, { file }) {
  const database = stage.path('directus.db');
  const port = await freePort();
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DB_CLIENT: 'sqlite3',
    DB_FILENAME: database,
    SECRET: 'bench',
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: 'bench',
    ADMIN_TOKEN: TOKEN,
    RATE_LIMITER_ENABLED: 'true',
    RATE_LIMITER_STORE: 'memory',
    RATE_LIMITER_POINTS: String(UNLIMITED),
    RATE_LIMITER_DURATION: '60',
    TELEMETRY: 'false',
    LOG_LEVEL: 'warn',
  };
  await run(process.execPath, [PROGRAM, 'bootstrap'], {
    cwd: stage.directory,
    env: { PATH: process.env.PATH, HOME: stage.directory, ...env },
  });
  const running = await stage.start({
    name: 'Directus',
    args: [PROGRAM, 'start'],
    env,
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/server/ping`),
  });
  await createCollection(port);
  copyAnimals(file, database);
  return {
    running,
    keyFile: writeKeys(stage, 'directus-token', [TOKEN]),
    paths: {
      list: `/items/pets?limit=${PAGE}&sort=id`,
      get: '/items/pets/',
      create: '/items/pets',
    },
  };
}

async function createCollection(port) {
  const generated = { is_primary_key: true, has_auto_increment: true };
  const fields = [
    { field: 'id', type: 'integer', schema: generated },
    { field: 'name', type: 'string', schema: {} },
    { field: 'categoryId', type: 'bigInteger', schema: {} },
    { field: 'status', type: 'string', schema: {} },
  ];
  const response = await fetch(`http://127.0.0.1:${port}/collections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ collection: 'pets', meta: {}, schema: {}, fields }),
  });
  if (!response.ok) throw new Error(`Directus created no collection: ${await response.text()}`);
}

function copyAnimals(from, to) {
  const database = new Database(to);
  database.prepare('ATTACH ? AS ours').run(from);
  database.exec(
    'INSERT INTO pets (id, name, categoryId, status) SELECT id, name, category_id, status FROM ours.pets',
  );
  database.close();
}
