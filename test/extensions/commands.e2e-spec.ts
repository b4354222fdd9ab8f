import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { herd } from '../support/commands-extension.js';
import { runInProcess } from '../support/run-program.js';
import { useService } from '../support/start-service.js';
import { TemporaryDirectory } from '../support/temporary-directory.js';

const EXTENSION = JSON.stringify(resolve('test/support/commands-extension.ts'));

describe('a command of an extension', () => {
  const { service, client } = useService({ extensions: [herd] });
  const directory = new TemporaryDirectory();
  const config = join(directory.path, 'petstore.config.js');
  const environment = { ...process.env };
  beforeAll(() => {
    const extensions = `[require(${EXTENSION}).herd]`;
    writeFileSync(
      config,
      `module.exports = { __esModule: true, default: { extensions: ${extensions} } }`,
    );
    process.env['DATABASE_URL'] = service.config.databaseUrl;
    // The server listens on this port.
    process.env['PORT'] = new URL(service.origin).port;
  });
  afterAll(() => {
    process.env = environment;
    directory[Symbol.dispose]();
  });

  it('runs on the modules of the extension while the server runs', async () => {
    process.env['HERD_NAME'] = 'Shaun';
    const { code, out, err } = await runInProcess('herd', 'in', '--config', config);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({ name: 'Shaun', args: ['in'] });
    expect((await client.get('/v1/pets?limit=100')).text).toContain('"Shaun"');
  });

  it('has every argument but those of petstore', async () => {
    const options = ['--config', config, '--ignore-compatibility', 'herd'];
    const args = ['a', '-x', '--json', '--version', 'b', '--size=2', '--', '--config', 'c'];
    const { out } = await runInProcess('herd', ...options, ...args);
    expect(JSON.parse(out).args).toEqual(args);
  });

  it('has a --config of its own after --', async () => {
    const { err } = await runInProcess('herd', '--', '--config', 'gone.js');
    expect(err).toContain("unknown command 'herd'");
  });

  it('fails with exit code 1 and its message', async () => {
    expect(await runInProcess('wolf', '--config', config)).toEqual({
      code: 1,
      out: '',
      err: 'error: the herd has gone\n',
    });
  });

  it('is in the help, under the name of its extension', async () => {
    const { code, out } = await runInProcess('--help', '--config', config);
    expect(code).toBe(0);
    expect(out).toMatch(/\nCommands of herd:\n {2}herd .* add a pet\n {2}wolf .* fail\n/);
    expect((await runInProcess('herd', '--help', '--config', config)).out).toMatch(
      /^Usage: petstore herd [^]*add a pet/,
    );
  });

  it('is unknown without the extension', async () => {
    const { code, err } = await runInProcess('herd');
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("unknown command 'herd'"),
    });
  });

  it('does not keep the help from being printed if the configuration is broken', async () => {
    const { code, out, err } = await runInProcess('--help', '--config', 'gone.js');
    expect({ code, err }).toEqual({
      code: 0,
      err: 'error: configuration file gone.js does not exist\n',
    });
    expect(out).toContain('Usage: petstore');
  });
});
