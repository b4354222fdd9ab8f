import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { Client } from '../support/client.js';
import { expectError } from '../support/expectations.js';
import { Workplace } from '../support/petstore-process.js';
import { workplaceWithOrders } from '../support/workplace-with-orders.js';

describe('petstore.config.js', () => {
  it('the server and every command read petstore.config.js', async () => {
    using workplace = workplaceWithOrders();
    const served = await workplace.serve({ LOG_FORMAT: 'json' });
    const scopes = ['--scopes', 'pets:write,orders:read,orders:write'];
    const { key } = await workplace.json(
      'keys',
      'issue',
      '--name',
      'z',
      '--plan',
      'pro',
      ...scopes,
    );
    const client = new Client(served.origin, key);
    expect((await client.get('/v1/store/orders')).json()).toEqual([]);
    expectError(await client.get('/v1/store/orders/7'), 404, 'order_not_found');
    const rex = { name: 'Rex', categoryId: 7, status: 'available' };
    const { id: petId } = (await client.post('/v1/pets', rex)).json();
    const { id } = (await client.post('/v1/store/orders', { petId, quantity: 1 })).json();
    await client.post(`/v1/store/orders/${id}/complete`, '', { 'x-request-id': 'r-9' });
    client.close();
    expect(await served.stop()).toBe(0);
    expect(served.output()).toMatch(/"requestId":"r-9".*"msg":"A pet was sold"/);
  });

  it('--config specifies another configuration file', async () => {
    using workplace = workplaceWithOrders({}, 'other.js');
    const document = (args: string[]) => workplace.json('openapi', ...args);
    expect((await document([])).paths).not.toHaveProperty('/store/orders');
    expect((await document(['--config', 'other.js'])).paths).toHaveProperty('/store/orders');
  });

  it("TypeORM's command line reads petstore.config.js", () => {
    using workplace = workplaceWithOrders();
    const typeorm = resolve('node_modules/typeorm/cli.js');
    const shown = execFileSync(
      process.execPath,
      [typeorm, 'migration:show', '-d', resolve('dist/ormconfig.js')],
      { cwd: workplace.directory, encoding: 'utf8' },
    );
    expect(shown).toContain('CreateOrders1764720000000');
  });

  it.each([
    ['restore x', 'that is not there', undefined, 'configuration file broken.js does not exist'],
    [
      'backup x',
      'that throws',
      'throw new Error("no toys")',
      'cannot load broken.js \\(run node broken.js to see where\\): no toys',
    ],
    [
      'migrate',
      'that is no JavaScript',
      'export default {,}',
      'cannot load broken.js \\(run node broken.js to see where\\): SyntaxError: [^:]*',
    ],
    [
      'new extension x',
      'without a default',
      'export const plans = {}',
      'broken.js must have "export',
    ],
  ])('stops %s with one line on a file %s', async (command, _which, source, complaint) => {
    using workplace = new Workplace();
    if (source !== undefined) workplace.write('broken.js', source);
    workplace.write('package.json', '{ "type": "module" }');
    const args = `${command} --config broken.js`.split(' ');
    const { code, stdout, stderr } = await workplace.run(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(new RegExp(`^error: ${complaint}.*\\n$`));
  });

  it.each([[['keys', 'list']], [['serve']]])(
    '%j ends with a line if the file waits forever',
    async (args) => {
      using workplace = new Workplace({ PORT: '0', METRICS_PORT: '0' });
      workplace.write('petstore.config.mjs', 'await new Promise(() => undefined)');
      const { code, stdout, stderr } = await workplace.run(...args);
      expect([code, stdout]).toEqual([1, '']);
      // Later releases of Node add a warning.
      expect(stderr).toMatch(
        /^error: a promise never settles: see each await in petstore\.config\.js, and the hooks/m,
      );
    },
  );

  it.each(['doctor', 'migrate'])('%s fails with a line if the file exits', async (command) => {
    using workplace = new Workplace();
    workplace.write('petstore.config.mjs', 'process.exit(0)');
    expect(await workplace.run(command)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: petstore\.config\.mjs, .* calls process\.exit\(\)\n$/),
    });
  });

  describe('an extension that waits forever', () => {
    const waiting = 'error: a promise never settles: ';
    const extensionWith = (workplace: Workplace, module: string, members = ''): void => {
      const extension = `{ name: 'toys', compatibility: '^1.0.0', module: ${module}, ${members} }`;
      workplace.write('petstore.config.mjs', `export default { extensions: [${extension}] }`);
    };

    it.each([
      ['a hook', 'serve', 'class { onModuleInit() { return new Promise(() => {}); } }'],
      ['a command', 'toys', 'class {}'],
    ])('ends %s with a line', async (_what, command, module) => {
      using workplace = new Workplace({ PORT: '0', METRICS_PORT: '0', LOG_FORMAT: 'json' });
      const run = 'run: () => new Promise(() => {})';
      extensionWith(workplace, module, `commands: [{ name: 'toys', description: 'x', ${run} }]`);
      if (command === 'toys') await workplace.run('migrate');
      const { code, stderr } = await workplace.run(command);
      expect([code, stderr]).toEqual([1, expect.stringContaining(waiting)]);
      expect(stderr).toContain('the hooks and commands of extensions');
    });

    it('ends a stop with a line, once the requests are complete', async () => {
      using workplace = new Workplace({ LOG_FORMAT: 'json' });
      extensionWith(workplace, 'class { onModuleDestroy() { return new Promise(() => {}); } }');
      const served = await workplace.serve();
      expect(await served.stop()).toBe(1);
      expect(served.output()).toContain(waiting);
    });
  });

  it.each([
    [
      'undefined.toys',
      /^error: extension toys: TypeError: Cannot read .* \(file:.*petstore\.config\.js:1:\d+\)\n$/,
    ],
    ['throw new Error("no toys")', /^error: extension toys: no toys\n$/],
    ['throw "no toys"', /^error: extension toys: no toys\n$/],
  ])('a start that fails by %s prints its error once', async (statement, line) => {
    using workplace = new Workplace({ PORT: '0', METRICS_PORT: '0', LOG_FORMAT: 'json' });
    const module = `class { onModuleInit() { ${statement} } }`;
    const extension = `{ name: 'toys', compatibility: '^1.0.0', module: ${module} }`;
    workplace.write('petstore.config.js', `export default { extensions: [${extension}] }`);
    workplace.write('package.json', '{ "type": "module" }');
    const { code, stdout, stderr } = await workplace.run('serve');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(line);
  });
});
