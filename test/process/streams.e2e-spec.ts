import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Workplace } from '../support/petstore-process.js';
import { StuckPipe } from '../support/stuck-pipe.js';

jest.setTimeout(120_000);
const START_MS = 60_000;
const READ_INTERVAL_MS = 150;

/** Starts a server with its standard output on `stdout`, and waits until it is ready. */
async function serve(workplace: Workplace, stdout: 'pipe' | number, format: string) {
  const port = String(await freePort());
  const origin = `http://127.0.0.1:${port}`;
  const settings = { METRICS_PORT: '0', LOG_FORMAT: format, PORT: port };
  const child = workplace.start(['serve'], settings, stdout);
  child.stderr!.resume();
  const isReady = () =>
    fetch(`${origin}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isReady, START_MS);
  return { child, origin };
}

async function endOf(child: ChildProcess): Promise<[number | null, string]> {
  let errors = '';
  child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return [code, errors];
}

describe('standard output', () => {
  it.each(['json', 'pretty'])('that nobody reads does not stop a server: %s', async (format) => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    const { child } = await serve(workplace, pipe.fd, format);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it('gets the whole result of a command, however slowly it is read', async () => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    const child = workplace.start(['openapi'], {}, pipe.fd);
    const closed = once(child, 'close');
    let hasEnded = false;
    void closed.then(() => (hasEnded = true));
    const pages: Buffer[] = [];
    while (!hasEnded) {
      pages.push(pipe.read());
      await pause(READ_INTERVAL_MS);
    }
    expect(await closed).toEqual([0, null]);
    for (let page = pipe.read(); page.length > 0; page = pipe.read()) pages.push(page);
    const text = Buffer.concat(pages).subarray(pipe.capacityBytes).toString();
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.0' });
  });

  describe('on a full disk', () => {
    let full: number;
    beforeAll(() => (full = openSync('/dev/full', 'w')));
    afterAll(() => closeSync(full));

    it('makes a command fail with one line', async () => {
      using workplace = new Workplace();
      expect(await endOf(workplace.start(['openapi'], {}, full))).toEqual([
        1,
        expect.stringMatching(/^error: cannot write to standard output \(ENOSPC[^\n]+\)\n$/),
      ]);
    });

    it.each(['json', 'pretty'])('does not stop a server: %s', async (format) => {
      using workplace = new Workplace();
      const { child, origin } = await serve(workplace, full, format);
      for (let request = 0; request < 5; request++) {
        expect((await fetch(`${origin}/v1/pets`)).status).toBe(401);
      }
      child.kill('SIGTERM');
      expect(await once(child, 'close')).toEqual([0, null]);
    });
  });
});
