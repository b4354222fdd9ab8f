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
import { freePort } from '../support/free-port.js';

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

/** Runs a program to its end; what it printed. */
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

/** An extension in a directory outside the repository, with the service installed from its tarball. */
class Project {
  constructor(readonly directory: string) {}

  static async install(directory: string, ...tarballs: string[]): Promise<Project> {
    const project = new Project(directory);
    await project.npm('install', ...tarballs);
    // The addon is the one that the repository has compiled: to compile it again takes over a minute.
    const addon = 'node_modules/better-sqlite3/build';
    cpSync(join(ROOT, addon), join(directory, addon), { recursive: true });
    return project;
  }

  npm(...args: string[]): Promise<string> {
    const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    return this.run('npm', [...args, ...quiet]);
  }

  bin(name: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    return this.run(join(this.directory, 'node_modules/.bin', name), args, env);
  }

  /** The extension's own tests, as they were compiled. */
  async test(name: string, env: Record<string, string> = {}): Promise<void> {
    const told = await this.run(process.execPath, ['--test', `dist/test/${name}.test.js`], env);
    expect(told).toMatch(/^# pass [1-9]/m);
    expect(told).toMatch(/^# fail 0$/m);
  }

  run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    return run(command, args, { cwd: this.directory, env: { ...ENVIRONMENT, ...env } });
  }
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
    // Nothing is built in there: that is what packing does.
    await run('npm', ['pack'], { cwd: clone });
    cpSync(join(clone, 'examples/store-orders'), join(directory, 'store-orders'), {
      recursive: true,
    });
    [postgres, orders] = await Promise.all([
      PostgresServer.start(initdb),
      Project.install(join(directory, 'store-orders'), tarball),
    ]);
    // Ours among what is checked, whatever the project's own settings say of libraries.
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

  it(
    'serves an extension on PostgreSQL',
    async () => {
      const DATABASE_URL = await postgres.createDatabase();
      const port = await freePort();
      const env = {
        DATABASE_URL,
        PORT: String(port),
        METRICS_PORT: '0',
        LOG_FORMAT: 'json',
        // However busy the machine is: all 50 come to a process that has compiled nothing yet.
        SHED_AFTER_MS: '0',
      };
      await orders.bin('petstore', ['migrate'], env);
      const scopes = 'orders:read,orders:write,pets:write';
      const issue = ['keys', 'issue', '--name', 'shop', '--plan', 'pro', '--scopes', scopes];
      const { key } = JSON.parse(await orders.bin('petstore', [...issue, '--json'], env)) as {
        key: string;
      };
      const server = spawn('node_modules/.bin/petstore', ['serve'], {
        cwd: orders.directory,
        env: { ...ENVIRONMENT, ...env },
        stdio: 'ignore',
      });
      try {
        const origin = `http://127.0.0.1:${port}`;
        await untilReady(origin);
        const post = (path: string, body: object): Promise<Response> =>
          fetch(`${origin}/v1${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
        const pet = await post('/pets', { name: 'Rex', categoryId: 7, status: 'available' });
        const { id: petId } = (await pet.json()) as { id: number };
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => post('/store/orders', { petId, quantity: 1 })),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
        const document = await fetch(`${origin}/openapi.json`);
        const { paths } = (await document.json()) as { paths: object };
        expect(paths).toHaveProperty(['/store/orders/{orderId}/cancel']);
      } finally {
        const closed = once(server, 'close');
        server.kill('SIGTERM');
        await closed;
      }
    },
    PATIENCE_MS,
  );

  it(
    'writes an extension whose tests pass unedited on both engines, and which runs from its own tarball',
    async () => {
      await orders.bin('petstore', ['new', 'extension', 'toy-visits']);
      const visits = await Project.install(join(orders.directory, 'toy-visits'));
      expect(await visits.run('npm', ['test'])).toMatch(/^# fail 0$/m);
      const TEST_DATABASE_URL = await postgres.createDatabase();
      await visits.test('toy-visits', { TEST_DATABASE_URL });
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
      const installed = await Project.install(shop, tarball, packed);
      const DATABASE_URL = `sqlite:${directory}/visits.db`;
      const migrated = await installed.bin('petstore', ['migrate', '--json'], { DATABASE_URL });
      expect(migrated).toContain('CreateToyVisits');
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
      // yarn installs no peers by itself.
      const peers = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`);
      const args = ['--yes', ...install, '--ignore-scripts', tarball, ...peers];
      expect(await project.run('npx', args)).not.toMatch(/unmet peer|deprecated/);
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

async function untilReady(origin: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${origin}/health/ready`).catch(() => undefined);
    if (answer?.ok) return;
    if (performance.now() > deadline) throw new Error('petstore serve did not start');
    await new Promise((resume) => setTimeout(resume, 100));
  }
}
