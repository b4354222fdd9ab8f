import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/support/eventually.js';
import { freePort } from '../../test/support/free-port.js';
import { Output } from './output.js';
import { runProgram } from './program.js';

describe('petstore serve', () => {
  const environment = { ...process.env };
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-serve-'));
    Object.assign(process.env, {
      ...{ DATABASE_URL: `sqlite:${directory}/petstore.db`, PORT: '0', METRICS_PORT: '0' },
      ...{ LOG_LEVEL: 'silent', LOG_FORMAT: 'json', NODE_ENV: 'test' },
    });
  });
  afterEach(() => {
    process.env = { ...environment };
    rmSync(directory, { recursive: true });
  });

  /** Serves until `isUp` says so, then stops as a signal would; all that was printed. */
  async function serve(isUp: (out: string) => boolean, ...argv: string[]): Promise<string> {
    let out = '';
    let err = '';
    const output = new Output(
      (text) => void (out += text),
      (text) => void (err += text),
    );
    const ended = runProgram(['serve', ...argv], output);
    await eventually(() => Promise.resolve(isUp(out)));
    process.emit('SIGTERM');
    expect({ code: await ended, err }).toEqual({ code: 0, err: '' });
    return out;
  }

  it('tells where it listens, a key at the first start only, and ends with 0 on SIGTERM', async () => {
    const first = JSON.parse(await serve((out) => out.endsWith('}\n'), '--json'));
    expect(first).toEqual({
      origin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      baseUrl: expect.stringMatching(/^http:\/\/localhost:\d+\/v1$/),
      docsUrl: expect.stringMatching(/\/docs$/),
      metricsUrl: null,
      database: `${directory}/petstore.db`,
      key: expect.stringMatching(/^psk_/),
    });
    const second = JSON.parse(await serve((out) => out.endsWith('}\n'), '--json'));
    expect(second).toMatchObject({ key: null });
  });

  it('introduces itself with a curl line, and what runs where, to whoever starts it first', async () => {
    const out = await serve((text) => text.includes('curl'));
    expect(out).toMatch(/curl -i -H 'Authorization: Bearer psk_\w{49}' http:\/\/\S+\/v1\/pets\n/);
    expect(out).toMatch(/API +http:\/\/localhost:\d+\/v1\n/);
    expect(out).toMatch(/Documentation +http:\/\/localhost:\d+\/docs\n/);
    expect(out).toContain(`${directory}/petstore.db (with 30 made-up animals)`);
    expect(out).toMatch(/More keys +petstore keys issue /);
  });

  it('tells a person what runs where at every start, and of its animals at the first one only', async () => {
    process.env['LOG_FORMAT'] = 'pretty';
    process.env['METRICS_PORT'] = String(await freePort());
    await serve((text) => text.includes('curl'));
    const second = await serve((text) => text.includes('More keys'));
    expect(second).toContain(`http://127.0.0.1:${process.env['METRICS_PORT']}/metrics\n`);
    expect(second).toContain(`${directory}/petstore.db\n`);
    expect(second).not.toMatch(/curl|psk_|made-up/);
  });
});
