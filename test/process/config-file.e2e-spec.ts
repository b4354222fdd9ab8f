import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { Client } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { Workplace } from '../support/petstore-process.js';
import { workplaceWithToys } from '../support/toys.js';

// A test here starts the program several times.
jest.setTimeout(180_000);

const toysKey = [
  'keys',
  'issue',
  '--name',
  't',
  '--plan',
  'enterprise',
  '--per-minute',
  '100000',
  '--per-day',
  '40',
  '--scopes',
  'toys:read,toys:write',
];

describe('petstore.config.js', () => {
  it('is read by the server and by every command', async () => {
    using workplace = workplaceWithToys();
    const served = await workplace.serve({ LOG_FORMAT: 'json' });
    const { key } = await workplace.json(...toysKey);
    const client = new Client(served.origin, key);
    const answer = await client.get('/v1/toys');
    expect([answer.status, answer.json()]).toEqual([200, []]);
    const broken = await client.post('/v1/toys/1', {}, { 'x-request-id': 'r-9' });
    expectError(broken, 409, 'toy_broken');
    for (let time = 0; time < 40; time++) await client.get('/v1/toys');
    client.close();
    expect(await served.stop()).toBe(0);
    expect(served.output()).toMatch(/"requestId":"r-9".*"msg":"It breaks"/);
    const told = served.output().matchAll(/"window":"day","percent":(\d+),"msg":"Threshold"/g);
    expect(Array.from(told, ([, percent]) => Number(percent)).sort()).toEqual([100, 75, 90]);
  });

  it('is read from --config', async () => {
    using workplace = workplaceWithToys({}, 'other.js');
    const document = (args: string[]) => workplace.json('openapi', ...args);
    expect((await document([])).paths).not.toHaveProperty('/toys');
    expect((await document(['--config', 'other.js'])).paths).toHaveProperty('/toys');
  });

  it('is read by the command line of TypeORM', () => {
    using workplace = workplaceWithToys();
    const shown = execFileSync(
      process.execPath,
      [
        resolve('node_modules/typeorm/cli.js'),
        'migration:show',
        '-d',
        resolve('dist/ormconfig.js'),
      ],
      { cwd: workplace.directory, encoding: 'utf8' },
    );
    expect(shown).toContain('CreateToys1700000000000');
  });

  it.each([
    ['that is not there', undefined, 'configuration file broken.js does not exist'],
    ['that throws', 'throw new Error("no toys")', 'cannot load broken.js: no toys'],
    ['without extensions', 'export default {}', 'broken.js must have "export default'],
  ])('stops with one line on a file %s', async (_which, source, complaint) => {
    using workplace = new Workplace();
    if (source !== undefined) workplace.write('broken.js', source);
    workplace.write('package.json', '{ "type": "module" }');
    const { code, stdout, stderr } = await workplace.run('migrate', '--config', 'broken.js');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`error: ${complaint}`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
