import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';

/** A project with the packages of the service, and the service itself. */
function workplaceWithPackages(): Workplace {
  const workplace = new Workplace();
  const modules = join(workplace.directory, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync('node_modules').filter((each) => !each.startsWith('.'))) {
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  symlinkSync(resolve('.'), join(modules, 'pet-store-service'));
  workplace.write('package.json', '{ "type": "module" }');
  return workplace;
}

describe('petstore new extension pets', () => {
  const workplace = workplaceWithPackages();
  const folder = join(workplace.directory, 'pets');
  const node = (env: Record<string, string>, ...args: string[]): string => {
    const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const;
    const environment = Object.entries(process.env).filter(
      ([name]) => !/^(?:TEST_|NODE_)/.test(name),
    );
    return execFileSync(process.execPath, args, {
      ...options,
      env: { ...Object.fromEntries(environment), ...env },
    });
  };
  const TEST = ['--test', '--test-reporter', 'tap', 'dist/test/pets.test.js'];

  beforeAll(async () => {
    // A database with the built-in pets.
    await workplace.json('seed', '--pets', '3');
    const { files } = await workplace.json('new', 'extension', 'pets');
    expect(files).toContain('pets/src/pets.controller.ts');
    expect(files).toContain('pets/test/pets.test.ts');
    node({}, resolve('node_modules/typescript/bin/tsc'));
  });
  afterAll(() => workplace[Symbol.dispose]());

  it('writes a copy of src/pets whose tests pass unchanged', () => {
    expect(node({}, ...TEST)).toMatch(/^# pass [1-9]\d*\n# fail 0$/m);
  });

  describeWith('postgres', 'on PostgreSQL', (initdb) => {
    it('writes a copy of src/pets whose tests pass unchanged', async () => {
      await using server = await PostgresServer.start(initdb);
      const TEST_DATABASE_URL = await server.createDatabase();
      expect(node({ TEST_DATABASE_URL }, ...TEST)).toMatch(/^# pass [1-9]\d*\n# fail 0$/m);
    });
  });

  it('writes an extension that takes over the database of the built-in pets', async () => {
    const controller = join(folder, 'dist/src/pets.controller.js');
    const text = readFileSync(controller, 'utf8');
    writeFileSync(controller, text.replace("summary: 'List pets'", "summary: 'List our pets'"));
    const config = ['--config', 'pets/petstore.config.js'];
    expect(await workplace.json('migrate', ...config)).toEqual({ migrations: [] });
    const { key } = await workplace.json(
      'keys',
      'issue',
      '--name',
      'x',
      '--plan',
      'pro',
      ...config,
    );
    const served = await workplace.serve({}, ...config);
    const client = new Client(served.origin, key as string);
    expect((await client.get('/v1/pets')).json()).toHaveLength(3);
    const { paths } = (await client.get('/openapi.json')).json();
    expect(paths['/pets'].get.summary).toBe('List our pets');
    client.close();
    expect(await served.stop()).toBe(0);
  });
});
