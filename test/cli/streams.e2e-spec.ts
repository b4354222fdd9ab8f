import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Workplace } from '../support/petstore-process.js';
import { StuckPipe } from '../support/stuck-pipe.js';

// A process may take its time to start on a busy machine.
jest.setTimeout(180_000);
const START_MS = 60_000;
const END_MS = 30_000;
/** Slow: what waits then is more than a pipe holds when the command has done its work. */
const PAGE_READ_MS = 150;
const LONGEST_ID = 128;
const AT_ONCE = 50;
const MORE_THAN_A_SOCKET_HOLDS = 400_000;

/** With it a server ends as after an error that nobody handled. */
const FAULTY = `process.once('SIGUSR2', () => { throw new Error('a fault') });
export default { extensions: [] };`;

/** A server that writes there; resolves once it serves. */
async function serve(
  workplace: Workplace,
  stdout: 'pipe' | number,
  env: Record<string, string>,
): Promise<{ child: ChildProcess; origin: string }> {
  const PORT = String(await freePort());
  const origin = `http://127.0.0.1:${PORT}`;
  const settings = { METRICS_PORT: '0', ...env, PORT };
  const child = workplace.start(['serve'], settings, stdout);
  child.stderr!.resume();
  await eventually(
    () =>
      fetch(`${origin}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    START_MS,
  );
  return { child, origin };
}

describe('a server whose log nobody reads', () => {
  it.each(['json', 'pretty'])('serves, and ends on SIGTERM with 0: %s', async (format) => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    const { child } = await serve(workplace, pipe.fd, { LOG_FORMAT: format });
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  // Of Node, the pipe to a child is a stream socket, as the one that systemd gives to a service.
  it('serves, and ends on SIGTERM with 0, where it is a socket', async () => {
    using workplace = new Workplace();
    const { child, origin } = await serve(workplace, 'pipe', { LOG_FORMAT: 'json' });
    const headers = { 'x-request-id': 'x'.repeat(LONGEST_ID) };
    for (let bytes = 0; bytes < MORE_THAN_A_SOCKET_HOLDS; bytes += AT_ONCE * LONGEST_ID) {
      const requests = Array.from({ length: AT_ONCE }, () =>
        fetch(`${origin}/v1/pets`, { headers }),
      );
      await Promise.all(requests.map(async (request) => (await request).text()));
    }
    const exit = once(child, 'exit', { signal: AbortSignal.timeout(END_MS) });
    child.kill('SIGTERM');
    // Not `close`, which is of the one who reads.
    expect(await exit).toEqual([0, null]);
  });

  it.each(['json', 'pretty'])('ends after an error that nobody handled: %s', async (format) => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    workplace.write('petstore.config.js', FAULTY);
    const { child } = await serve(workplace, pipe.fd, { LOG_FORMAT: format });
    child.kill('SIGUSR2');
    expect(await once(child, 'close')).toEqual([1, null]);
  });
});

describe('a command', () => {
  it('writes its result to the end, however slowly it is read', async () => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    const child = workplace.start(['openapi'], {}, pipe.fd);
    const closed = once(child, 'close');
    let hasEnded = false;
    void closed.then(() => (hasEnded = true));
    const pages: Buffer[] = [];
    while (!hasEnded) {
      pages.push(pipe.read());
      await pause(PAGE_READ_MS);
    }
    expect(await closed).toEqual([0, null]);
    for (let page = pipe.read(); page.length > 0; page = pipe.read()) pages.push(page);
    const text = Buffer.concat(pages).subarray(pipe.capacityBytes).toString();
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.0' });
  });
});

describe('standard output that cannot be written', () => {
  let full: number;
  beforeAll(() => (full = openSync('/dev/full', 'w')));
  afterAll(() => closeSync(full));

  /** The exit code of a command, and what it says about it. */
  async function run(workplace: Workplace, ...args: string[]): Promise<[number | null, string]> {
    const child = workplace.start(args, {}, full);
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return [code, said];
  }

  it('has a command complain in one line, which names a key that nobody has seen', async () => {
    using workplace = new Workplace();
    await workplace.run('migrate');
    const cannot = 'error: standard output cannot be written \\(ENOSPC: [^\\n]+\\): ';
    expect(await run(workplace, 'openapi')).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${cannot}the result is lost\\n$`)),
    ]);
    const unseen = new RegExp(
      `^${cannot}nobody has seen the key (key_\\w+); petstore keys rotate \\1 --grace 0s [^\\n]+\\n$`,
    );
    const issued = await run(workplace, 'keys', 'issue', '--name', 'Zoo', '--plan', 'free');
    expect(issued).toEqual([1, expect.stringMatching(unseen)]);
    const [, id = ''] = unseen.exec(issued[1])!;
    const rotated = await run(workplace, 'keys', 'rotate', id, '--grace', '0s', '--json');
    expect(rotated).toEqual([1, expect.stringMatching(unseen)]);
    const { replacedBy } = await workplace.json('keys', 'show', id);
    expect(rotated[1]).toContain(replacedBy);
  });

  it('is a failure of a command that issues a key, and of no other, where its reader has gone', async () => {
    using workplace = new Workplace();
    await workplace.run('migrate');
    const runUnread = async (...args: string[]): Promise<[number | null, string]> => {
      const child = workplace.start(args);
      child.stdout!.destroy();
      let said = '';
      child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      return [code, said];
    };
    const issued = await runUnread('keys', 'issue', '--name', 'Zoo', '--plan', 'free');
    expect(issued).toEqual([
      1,
      expect.stringMatching(/nobody has seen the key key_\w+; [^\n]+\n$/),
    ]);
    expect(await runUnread('keys', 'list')).toEqual([0, '']);
  });

  it.each(['json', 'pretty'])('has a server go on serving: %s', async (format) => {
    using workplace = new Workplace();
    const { child, origin } = await serve(workplace, full, { LOG_FORMAT: format });
    for (let request = 0; request < 5; request++) {
      expect((await fetch(`${origin}/v1/pets`)).status).toBe(401);
    }
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});
