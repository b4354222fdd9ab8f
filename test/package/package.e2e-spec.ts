import { execFile, type ExecFileOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeWith } from '../support/engines.js';
import { PostgresServer } from '../support/postgres.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { checkMcp } from './mcp-conformance.js';

const ROOT = resolve('.');
const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  peerDependencies: Record<string, string>;
};
/** Installing and compiling on a busy machine. */
const PATIENCE_MS = 480_000;

/** The environment of a shell, without the variables of Jest and npm. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:NODE_|JEST_|TEST_|npm_)/.test(name)),
);

/** Runs a program that must succeed. @returns its standard output */
function run(command: string, args: string[], options: ExecFileOptions): Promise<string> {
  return new Promise((done, fail) => {
    execFile(
      command,
      args,
      { maxBuffer: 1e8, timeout: PATIENCE_MS, ...options },
      (error, stdout, stderr) => {
        if (error === null) done(String(stdout));
        else fail(new Error(`${command} ${args.join(' ')}\n${String(stdout)}\n${String(stderr)}`));
      },
    );
  });
}

type Get = (path: string) => Promise<Response>;

/**
 * An extension in a directory outside the repository, with the service installed from its tarball.
 */
class Project {
  constructor(readonly directory: string) {}

  get databaseUrl(): string {
    return `sqlite:${this.directory}/served.db`;
  }

  static async install(directory: string, ...tarballs: string[]): Promise<Project> {
    const project = new Project(directory);
    await project.npm('install', ...tarballs);
    // Copies the addon of the repository: compiling it again takes over a minute.
    const addon = 'node_modules/better-sqlite3/build';
    cpSync(join(ROOT, addon), join(directory, addon), { recursive: true });
    return project;
  }

  /**
   * As `install`, on hard links to the packages of this project: npm then writes only those that
   * differ.
   */
  async installLike(directory: string, ...tarballs: string[]): Promise<Project> {
    await run('cp', ['-RPpl', join(this.directory, 'node_modules'), directory], {});
    // npm writes its hidden lockfile in place: through a link, it would change this project's.
    const lockfile = 'node_modules/.package-lock.json';
    rmSync(join(directory, lockfile));
    cpSync(join(this.directory, lockfile), join(directory, lockfile));
    const project = new Project(directory);
    await project.npm('install', ...tarballs);
    return project;
  }

  npm(...args: string[]): Promise<string> {
    const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    return this.run('npm', [...args, ...quiet]);
  }

  bin(name: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    return this.run(join(this.directory, 'node_modules/.bin', name), args, env);
  }

  /** Runs the compiled tests of the extension. */
  async test(name: string, env: Record<string, string> = {}): Promise<void> {
    const output = await this.run(process.execPath, ['--test', `dist/test/${name}.test.js`], env);
    expect(output).toMatch(/^# pass [1-9]/m);
    expect(output).toMatch(/^# fail 0$/m);
  }

  run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    return run(command, args, { cwd: this.directory, env: { ...ENVIRONMENT, ...env } });
  }

  /** Runs the official suite of MCP against the server of `serve()`. */
  async checkMcp(origin: string): Promise<void> {
    const issue = ['keys', 'issue', '--name', 'agent', '--plan', 'pro'];
    const issueKey = () => this.bin('petstore', issue, { DATABASE_URL: this.databaseUrl });
    await checkMcp(origin, issueKey, (command, args) => this.run(command, args));
  }

  /**
   * Starts the service with `npm start` or another command, on a new database, and stops it after
   * `use`.
   */
  async serve(
    [command, ...args]: [string, ...string[]],
    use: (get: Get) => Promise<void>,
    settings: Record<string, string> = {},
  ): Promise<void> {
    const PORT = String(await freePort());
    const DATABASE_URL = this.databaseUrl;
    const server = spawn(command, args, {
      cwd: this.directory,
      env: { ...ENVIRONMENT, ...settings, DATABASE_URL, PORT, METRICS_PORT: '0' },
      stdio: 'ignore',
    });
    const get: Get = (path) =>
      fetch(`http://127.0.0.1:${PORT}${path}`).catch(() => new Response(null, { status: 503 }));
    const closed = once(server, 'close');
    try {
      await eventually(async () => (await get('/health/ready')).ok);
      await use(get);
    } finally {
      server.kill('SIGTERM');
    }
    expect(await closed).toEqual([0, null]);
  }
}

/** Runs the tests of the extension `toy-visits` as the recipe for Vitest says. */
async function testWithVitest(visits: Project): Promise<void> {
  const [, config] = /## Vitest.*?^```js\n(.*?)^```/ms.exec(
    readFileSync('docs/recipes.md', 'utf8'),
  )!;
  const inPackage = (path: string) => join(visits.directory, path);
  writeFileSync(inPackage('vitest.config.js'), config!);
  const source = readFileSync(inPackage('test/toy-visits.test.ts'), 'utf8');
  const names = '{ afterAll as after, beforeAll as before, describe, it }';
  const text = source.replace(/import .* from 'node:test'/, `import ${names} from 'vitest'`);
  writeFileSync(inPackage('test/toy-visits.test.ts'), text);
  // Version 4 runs on Node 20.
  await visits.npm('install', '--no-save', 'vitest@4');
  await visits.bin('tsc', []);
  expect(await visits.bin('vitest', ['run'], { NO_COLOR: '1' })).toMatch(/Tests +[1-9]\d* passed/);
  writeFileSync(inPackage('test/toy-visits.test.ts'), source);
  await visits.bin('tsc', []);
}

describeWith('postgres', 'the package', (initdb) => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-package-'));
  const tarball = join(directory, 'clone', 'pet-store-service-1.0.0.tgz');
  let postgres: PostgresServer;
  let orders: Project;

  beforeAll(async () => {
    const clone = join(directory, 'clone');
    await run('git', ['clone', '--quiet', '--local', ROOT, clone], {});
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    // `npm pack` must build the clone.
    await run('npm', ['pack'], { cwd: clone });
    cpSync(join(clone, 'examples/store-orders'), join(directory, 'store-orders'), {
      recursive: true,
    });
    [postgres, orders] = await Promise.all([
      PostgresServer.start(initdb),
      Project.install(join(directory, 'store-orders'), tarball),
    ]);
    // Checks the declarations of the service as well.
    await orders.bin('tsc', ['--skipLibCheck', 'false']);
  }, PATIENCE_MS);
  afterAll(async () => {
    await postgres?.remove();
    rmSync(directory, { recursive: true, force: true });
  }, PATIENCE_MS);

  it(
    'runs the tests of an extension, compiled in strict mode, on both engines',
    async () => {
      const TEST_DATABASE_URL = await postgres.createDatabase();
      await Promise.all([orders.test('orders'), orders.test('orders', { TEST_DATABASE_URL })]);
    },
    PATIENCE_MS,
  );

  it.each([
    ['mcp', '"/mcp"', {}],
    ['pet-photos', '"/pets/{petId}/photos"', {}],
    [
      'webhooks',
      '"/webhooks/dead-letters"',
      {
        WEBHOOKS_URLS: 'http://127.0.0.1:9/hook',
        WEBHOOKS_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
      },
    ],
  ])(
    'installs examples/%s, which packs, passes its tests on both engines and starts with npm start',
    async (name, path, settings) => {
      const folder = join(directory, name);
      cpSync(join(directory, 'clone/examples', name), folder, { recursive: true });
      const example = await orders.installLike(folder, tarball);
      // The script prepack compiles the example.
      expect(await example.run('npm', ['pack'])).toMatch(/\.tgz$/m);
      const TEST_DATABASE_URL = await postgres.createDatabase();
      await Promise.all([example.test(name), example.test(name, { TEST_DATABASE_URL })]);
      const use = async (get: Get): Promise<void> => {
        const document = await get('/openapi.json');
        expect(await document.text()).toContain(path);
        if (name === 'mcp') await example.checkMcp(new URL(document.url).origin);
      };
      await example.serve(['npm', 'start'], use, settings);
    },
    PATIENCE_MS,
  );

  it(
    'writes a copy of src/pets that compiles in strict mode, whose tests pass unedited on both engines, and which starts',
    async () => {
      await orders.bin('petstore', ['new', 'extension', 'pets']);
      const pets = await orders.installLike(join(orders.directory, 'pets'));
      expect(await pets.run('npm', ['test'])).toMatch(/^# fail 0$/m);
      const TEST_DATABASE_URL = await postgres.createDatabase();
      await pets.test('pets', { TEST_DATABASE_URL });
      await pets.serve(['npm', 'start'], async (get) => {
        expect(await (await get('/openapi.json')).text()).toContain('"/pets/{petId}"');
      });
    },
    PATIENCE_MS,
  );

  it(
    'writes an extension whose tests pass unedited on both engines, and which runs from its own tarball',
    async () => {
      await orders.bin('petstore', ['new', 'extension', 'toy-visits']);
      const visits = await orders.installLike(join(orders.directory, 'toy-visits'));
      expect(await visits.run('npm', ['test'])).toMatch(/^# fail 0$/m);
      const TEST_DATABASE_URL = await postgres.createDatabase();
      await visits.test('toy-visits', { TEST_DATABASE_URL });
      await testWithVitest(visits);
      await visits.run('npm', ['pack']);
      const shop = join(directory, 'shop');
      mkdirSync(shop);
      writeFileSync(join(shop, 'package.json'), '{ "type": "module" }');
      writeFileSync(
        join(shop, 'petstore.config.js'),
        `import { toyVisitsExtension } from 'toy-visits';
         export default { extensions: [toyVisitsExtension] };`,
      );
      const packed = join(visits.directory, 'toy-visits-1.0.0.tgz');
      const installed = await orders.installLike(shop, tarball, packed);
      const DATABASE_URL = `sqlite:${directory}/visits.db`;
      const migrated = await installed.bin('petstore', ['migrate', '--json'], { DATABASE_URL });
      expect(migrated).toContain('CreateToyVisits');
      await installed.serve(['node_modules/.bin/petstore', 'serve'], async (get) => {
        expect(await (await get('/openapi.json')).text()).toContain('"/toy-visits');
        for (const path of ['/docs/guides/clients', '/docs/assets/page.js']) {
          expect([path, (await get(path)).status]).toEqual([path, 200]);
        }
      });
    },
    PATIENCE_MS,
  );

  it(
    'starts with npx, with sample pets and a key, as with npm start',
    async () => {
      const folder = join(directory, 'npx');
      mkdirSync(folder);
      const install = ['--yes', '--ignore-scripts', '--prefer-offline', '--package', tarball];
      const options = { cwd: folder, env: ENVIRONMENT };
      const program = await run('npx', [...install, '-c', 'command -v petstore'], options);
      const installed = resolve(program.trim(), '../..');
      const addon = 'better-sqlite3/build';
      cpSync(join(ROOT, 'node_modules', addon), join(installed, addon), { recursive: true });

      const PORT = String(await freePort());
      const start = ['--yes', '--package', tarball, 'pet-store-service'];
      const server = spawn('npx', start, {
        cwd: folder,
        env: { ...ENVIRONMENT, PORT, METRICS_PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      server.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await eventually(() => Promise.resolve(output.includes('curl')));
      expect(output).toMatch(/with 30 sample pets\)\n.* npx pet-store-service keys issue /);
      const [, key] = /^ +(psk_\w+)$/m.exec(output)!;
      const headers = { authorization: `Bearer ${key}` };
      const pets = await fetch(`http://127.0.0.1:${PORT}/v1/pets`, { headers });
      expect(await pets.json()).toHaveLength(20);
      server.kill('SIGTERM');
      await once(server, 'close');
      const keys = await run('npx', [...start, 'keys', 'list'], options);
      expect(keys).toContain('demo');
      rmSync(resolve(installed, '..'), { recursive: true });
    },
    PATIENCE_MS,
  );

  it.each([
    ['pnpm', ['pnpm@10', 'add']],
    ['yarn', ['yarn@1.22.22', 'add', '--ignore-engines', '--silent']],
  ])(
    'runs when it is installed with %s',
    async (manager, install) => {
      const project = new Project(join(directory, manager));
      mkdirSync(project.directory);
      writeFileSync(join(project.directory, 'package.json'), '{ "type": "module" }');
      // yarn does not install peers.
      const peers = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`);
      const args = ['--yes', ...install, '--ignore-scripts', tarball, ...peers];
      expect(await project.run('npx', args)).not.toMatch(/unmet peer|deprecated/);
      // Needs no compiled SQLite.
      const written = await project.bin('petstore', ['new', 'extension', 'early']);
      expect(written).toContain('needs\nPython 3, make and a C++ compiler');
      const service = realpathSync(join(project.directory, 'node_modules/pet-store-service'));
      const addon = join('better-sqlite3', 'build');
      cpSync(join(ROOT, 'node_modules', addon), join(service, '..', addon), { recursive: true });
      expect(await project.bin('petstore', ['openapi'])).toContain('"/pets/{petId}"');
    },
    PATIENCE_MS,
  );

  it(
    'compiles and runs an extension with a peer that is a patch older',
    async () => {
      await orders.npm('install', 'typeorm@1.1.0');
      const { version } = JSON.parse(
        readFileSync(join(orders.directory, 'node_modules/typeorm/package.json'), 'utf8'),
      ) as { version: string };
      expect(version).toBe('1.1.0');
      await Promise.all([orders.bin('tsc', ['--noEmit']), orders.test('orders')]);
    },
    PATIENCE_MS,
  );
});
