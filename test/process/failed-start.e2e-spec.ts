import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from '../support/engines.js';
import { FakeServer } from '../support/fake-server.js';
import { Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { workplaceWithOrders } from '../support/workplace-with-orders.js';

const PRODUCTION = { NODE_ENV: 'production', LOG_FORMAT: 'json', PORT: '0', METRICS_PORT: '0' };
/** All that the service must share with an extension. */
const SHARED = [
  'pet-store-service',
  '@nestjs/common',
  '@nestjs/core',
  'typeorm',
  'class-validator',
  'class-transformer',
];
/** A longer line is not read. */
const MAX_LENGTH = 400;

/** Writes an extension into a folder with packages of its own. */
function extensionWithCopies(workplace: Workplace, name: string, copies: string[]): void {
  const folder = join(workplace.directory, name);
  for (const copy of ['', ...copies]) {
    mkdirSync(join(folder, 'node_modules', copy), { recursive: true });
  }
  const manifest = `{ name: '${name}', from: import.meta.url, module: class {} }`;
  writeFileSync(join(folder, 'index.js'), `export const ${name} = ${manifest};`);
}

/** Runs a command that must fail without a result. @returns its lines on standard error */
async function failureOf(workplace: Workplace, ...command: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await workplace.run(...command);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.endsWith('\n')).toBe(true);
  return stderr.slice(0, -1).split('\n');
}

async function findingsOf(workplace: Workplace): Promise<{ check: string; detail: string }[]> {
  const { code, stdout } = await workplace.run('doctor', '--json');
  expect(code).toBe(1);
  return (JSON.parse(stdout) as { checks: { check: string; detail: string }[] }).checks;
}

describe('one line per cause', () => {
  it('refuses an extension in production beside a global petstore, with the command to use', async () => {
    using workplace = new Workplace(PRODUCTION);
    workplace.write('package.json', '{ "type": "module" }');
    extensionWithCopies(workplace, 'toys', []);
    for (const name of SHARED) {
      mkdirSync(join(workplace.directory, 'node_modules', name), { recursive: true });
    }
    workplace.write(
      'petstore.config.js',
      `import { toys } from './toys/index.js'; export default { extensions: [toys] };`,
    );
    for (const command of [['serve'], ['migrate'], ['keys', 'list']]) {
      const [line, ...others] = await failureOf(workplace, ...command);
      expect(line).toMatch(
        /^error: extension toys uses a second copy of pet-store-service: .*; start it with npx petstore there$/,
      );
      expect(line!.length).toBeLessThan(MAX_LENGTH);
      expect(others).toEqual([]);
    }
    const findings = await findingsOf(workplace);
    expect(findings).toHaveLength(1);
    expect(findings[0]!.detail).toContain('extension toys uses a second copy');
  });

  it('names each extension that cannot be used', async () => {
    using workplace = new Workplace(PRODUCTION);
    workplace.write('package.json', '{ "type": "module" }');
    extensionWithCopies(workplace, 'toys', ['typeorm', '@nestjs/common']);
    extensionWithCopies(workplace, 'food', ['class-validator']);
    workplace.write(
      'petstore.config.js',
      `import { toys } from './toys/index.js';
       import { food } from './food/index.js';
       const errors = { pet_not_found: { code: 'pet_not_found', status: 404, meaning: 'Gone.' } };
       export default { extensions: [toys, { ...food, compatibility: '^99.0.0', errors }] };`,
    );
    const causes = [
      /extension food requires pet-store-service \^99\.0\.0, but this is .*/,
      /error code pet_not_found is declared twice: by extension pets and by extension food/,
      /extension toys uses a second copy of @nestjs\/common: .*/,
      /extension food uses a second copy of class-validator: .*/,
    ].map(({ source }) => source);
    const lines = causes.map((cause) => expect.stringMatching(`^error: ${cause}$`) as unknown);
    expect(await failureOf(workplace, 'serve')).toEqual(lines);
    expect(await failureOf(workplace, 'migrate')).toEqual(lines);
    expect(await findingsOf(workplace)).toMatchObject(
      causes.map((cause) => ({
        check: 'configuration',
        detail: expect.stringMatching(`^${cause}$`) as unknown,
      })),
    );
  });

  it('names each operation of an extension that cannot be served', async () => {
    using workplace = workplaceWithOrders(PRODUCTION);
    workplace.write(
      'petstore.config.js',
      `import { Controller, Get, Module } from '@nestjs/common';
       class Toys { list() {} get() {} }
       for (const name of ['list', 'get']) {
         Get(name)(Toys.prototype, name, Object.getOwnPropertyDescriptor(Toys.prototype, name));
       }
       Controller('toys')(Toys);
       class ToysModule {}
       Module({ controllers: [Toys] })(ToysModule);
       export default { extensions: [{ name: 'toys', module: ToysModule }] };`,
    );
    const fault = 'has neither @RequireScope(...) nor @AnyScope()';
    expect(await failureOf(workplace, 'serve')).toEqual([
      `error: Toys.list ${fault}`,
      `error: Toys.get ${fault}`,
    ]);
  });

  it('names an unnamed connection of an extension, without the warning of TypeORM', async () => {
    using workplace = workplaceWithOrders(PRODUCTION);
    workplace.write(
      'petstore.config.js',
      `import { Module } from '@nestjs/common';
       import { TypeOrmModule } from '@nestjs/typeorm';
       class StockModule {}
       const stock = TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:' });
       Module({ imports: [stock] })(StockModule);
       export default { extensions: [{ module: StockModule }] };`,
    );
    expect(await failureOf(workplace, 'serve')).toEqual([
      expect.stringMatching(/^error: TypeOrmModule\.forRoot\(\) without a name would replace /),
    ]);
  });

  it.each([
    [
      'fetches from an unknown host',
      "fetch('http://nowhere.invalid/')",
      /fetch failed: .*ENOTFOUND/,
    ],
    [
      'fetches from a closed port',
      "fetch('http://127.0.0.1:1/')",
      /fetch failed: .*(?:ECONNREFUSED|bad port)/,
    ],
    [
      'listens on a port in use',
      "once(createServer().listen(port, '127.0.0.1'), 'listening')",
      /EADDRINUSE/,
    ],
    [
      'listens on a foreign address',
      "once(createServer().listen(0, '192.0.2.1'), 'listening')",
      /EADDRNOTAVAIL/,
    ],
    ['opens a folder', "readFile('/')", /EISDIR/],
  ])('names the extension, and no setting, if it %s', async (_what, expression, cause) => {
    await using other = await FakeServer.start();
    using workplace = new Workplace(PRODUCTION);
    workplace.write('package.json', '{ "type": "module" }');
    workplace.write(
      'petstore.config.js',
      `import { once } from 'node:events';
       import { readFile } from 'node:fs/promises';
       import { createServer } from 'node:net';
       const port = ${other.port};
       const module = class { async onModuleInit() { await ${expression}; } };
       export default { extensions: [{ name: 'toys', module }] };`,
    );
    const [line, ...others] = await failureOf(workplace, 'serve');
    expect(others).toEqual([]);
    expect(line).toMatch(/^error: extension toys: /);
    expect(line).toMatch(cause);
    expect(line).not.toMatch(/PORT|HOST|DATABASE_URL|chmod/);
  });

  it.each([
    [
      'folder',
      (workplace: Workplace) => ({ DATABASE_URL: `sqlite:${workplace.directory}` }),
      /is a folder$/,
    ],
    [
      'path in a file',
      () => ({ DATABASE_URL: 'sqlite:/dev/null/p.db' }),
      /a part of the path .* is not a folder/,
    ],
    ['home directory', () => ({ DATABASE_URL: 'sqlite:~/p.db' }), /must not contain ~: ~\/p\.db$/],
  ])(
    'does not advise chmod for a database in a %s, and creates nothing',
    async (_what, env, line) => {
      using workplace = new Workplace(PRODUCTION);
      using other = new Workplace({ ...PRODUCTION, ...env(workplace) });
      for (const command of ['serve', 'doctor']) {
        const { code, stdout, stderr } = await other.run(command);
        expect(code).toBe(1);
        expect(stdout + stderr).not.toContain('chmod');
        if (command === 'serve') expect(stderr.trimEnd()).toMatch(line);
      }
      expect(readdirSync(other.directory)).toEqual([]);
    },
  );

  it('stops on a .env that is a folder, without advising chmod', async () => {
    using workplace = new Workplace(PRODUCTION);
    mkdirSync(join(workplace.directory, '.env'));
    expect(await failureOf(workplace, 'serve')).toEqual([
      expect.stringMatching(/^error: \.env cannot be read: EISDIR/),
    ]);
    expect((await workplace.run('doctor')).stdout).not.toContain('chmod');
  });

  it('names each setting that is not valid', async () => {
    using workplace = new Workplace({ PORT: 'x', LOG_LEVEL: 'loud' });
    for (const command of ['serve', 'migrate']) {
      expect(await failureOf(workplace, command)).toEqual([
        expect.stringMatching(/^error: PORT must be /),
        expect.stringMatching(/^error: LOG_LEVEL must be /),
      ]);
    }
  });

  it.each([
    ['the configuration file', 'undefined.toys;', 'class {}'],
    ['a constructor', '', 'class { constructor() { undefined.toys; } }'],
    ['middleware', '', 'class { configure() { undefined.toys; } }'],
    ['onModuleInit', '', 'class { async onModuleInit() { undefined.toys; } }'],
    ['onApplicationBootstrap', '', 'class { onApplicationBootstrap() { undefined.toys; } }'],
    [
      'a provider',
      '',
      `{ module: class {}, providers: [{ provide: 'toys', useFactory: () => undefined.toys }] }`,
    ],
  ])('prints a programming error once, of %s', async (_where, statement, module) => {
    using workplace = new Workplace(PRODUCTION);
    workplace.write('package.json', '{ "type": "module" }');
    workplace.write(
      'petstore.config.js',
      `${statement} export default { extensions: [{ name: 'toys', module: ${module} }] };`,
    );
    expect(await failureOf(workplace, 'serve')).toEqual([
      expect.stringMatching(/^error: .*Cannot read properties of undefined \(reading 'toys'\)/),
    ]);
  });

  it('logs a programming error once that nothing waits for', async () => {
    using workplace = new Workplace(PRODUCTION);
    workplace.write('package.json', '{ "type": "module" }');
    const module = 'class { onModuleInit() { setImmediate(() => undefined.toys); } }';
    workplace.write(
      'petstore.config.js',
      `export default { extensions: [{ module: ${module} }] };`,
    );
    const { code, stdout, stderr } = await workplace.run('serve');
    expect([code, stderr]).toEqual([1, '']);
    const lines = stdout.split('\n').filter((line) => line.includes('Cannot read properties'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'fatal', err: { type: 'TypeError' } });
  });
});

describeWith('postgres', 'one line per cause, on PostgreSQL', (initdb) => {
  it('says that a schema is missing or incomplete, and nothing of what cannot work without it', async () => {
    await using server = await PostgresServer.start(initdb);
    using workplace = new Workplace({ ...PRODUCTION, DATABASE_URL: server.url });
    for (const command of [['serve'], ['keys', 'list']]) {
      expect(await failureOf(workplace, ...command)).toEqual([
        expect.stringMatching(
          /^error: the database schema lacks .*; run "petstore migrate" first$/,
        ),
      ]);
    }
  });
});
