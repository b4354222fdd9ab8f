import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { Workplace } from '../support/petstore-process.js';
import { jsonInProcess } from '../support/run-program.js';
import { startService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('the files of the embedded database', () => {
  it('a second server on a file reports the first and ends; the command line works', async () => {
    using workplace = new Workplace();
    const server = await workplace.serve({ LOG_LEVEL: 'warn' });
    const [second, command] = await Promise.all([
      workplace.run('serve'),
      workplace.run('keys', 'list'),
    ]);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain(`(process ${server.pid} on `);
    expect(second.stderr.trim().split('\n')).toHaveLength(1);
    expect(command.code).toBe(0);
    await server.stop('SIGKILL');
    const next = await workplace.serve({ LOG_LEVEL: 'warn' });
    expect((await workplace.run('serve')).stderr).toContain(`(process ${next.pid} on `);
    expect(await next.stop()).toBe(0);
  });

  it('a second server on a file is detected for any path to the file', async () => {
    using workplace = new Workplace({ LOG_LEVEL: 'warn' });
    const server = await workplace.serve();
    linkSync(workplace.databaseFile, join(workplace.directory, 'link.db'));
    const second = workplace.start(['serve'], { DATABASE_URL: 'sqlite:link.db' });
    const [code] = (await once(second, 'close')) as [number | null];
    expect(code).toBe(1);
    expect((await fetch(`${server.origin}/health/ready`)).status).toBe(200);
  });

  it('only the owner can read the database files', async () => {
    using workplace = new Workplace({ NODE_ENV: 'production' });
    expect((await workplace.run('migrate')).code).toBe(0);
    const folder = join(workplace.databaseFile, '..');
    expect(modeOf(folder)).toBe('700');
    chmodSync(workplace.databaseFile, 0o644);
    writeFileSync(`${workplace.databaseFile}-wal`, '', { mode: 0o644 });
    const server = await workplace.serve({ LOG_LEVEL: 'warn' });
    const files = readdirSync(folder);
    expect(files).toEqual(expect.arrayContaining(['petstore.db', 'petstore.db-wal']));
    for (const file of files) expect([file, modeOf(join(folder, file))]).toEqual([file, '600']);
    await server.stop();
  });

  it.each([
    ['deleted', (file: string) => rmSync(file)],
    [
      'replaced',
      (file: string) => (renameSync(file, `${file}.old`), copyFileSync(`${file}.old`, file)),
    ],
  ])('a file that is %s under a server causes a 503, also for readiness', async (_what, change) => {
    await using service = await startService();
    const client = await service.client();
    expect((await client.post('/v1/pets', rex)).status).toBe(201);
    change(service.config.databaseUrl.slice('sqlite:'.length));
    expectError(await client.post('/v1/pets', rex), 503, 'service_unavailable');
    expectError(await client.get('/v1/pets'), 503, 'service_unavailable');
    expect((await client.get('/health/ready')).status).toBe(503);
  });

  it('no command uses another database in place of a moved one', async () => {
    using workplace = new Workplace({ LOG_LEVEL: 'silent' });
    const { databaseFile: file, directory } = workplace;
    const json = (command: string) => jsonInProcess(`sqlite:${file}`, ...command.split(' '));
    await json('migrate');
    await json(`backup ${directory}/backup.db`);
    const { key } = await json('keys issue --name x --plan free');
    const server = await workplace.serve();
    expect((await new Client(server.origin, key).post('/v1/pets', rex)).status).toBe(201);
    renameSync(file, `${file}.moved`);
    const restore = `restore ${directory}/backup.db --yes`;
    const rejectAll = async (reason: string): Promise<void> => {
      for (const command of ['migrate', 'seed --pets 1', 'keys list', restore]) {
        await expect(json(command)).rejects.toThrow(reason);
      }
    };
    const moved = `a server runs on ${file}, but that file was moved; put it back`;
    await rejectAll(moved);
    expect(existsSync(file)).toBe(false);
    copyFileSync(`${directory}/backup.db`, file);
    const copy = readFileSync(file);
    await rejectAll(moved);
    expect((await workplace.run('doctor')).stdout).toContain('but that file was moved');
    expect(readFileSync(file)).toEqual(copy);
    rmSync(file);
    await server.stop('SIGKILL');
    const lost = `there is no database at ${file}, but its write-ahead log ${file}-wal; put`;
    await rejectAll(lost);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, '');
    await rejectAll(lost);
    await expect(workplace.serve()).rejects.toThrow('-wal; put the database back, or move ');
    renameSync(`${file}.moved`, file);
    const next = await workplace.serve();
    const pets = await new Client(next.origin, key).get('/v1/pets');
    expect(pets.json()).toMatchObject([rex]);
  });
});
