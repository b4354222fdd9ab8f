import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type Served, Workplace } from '../support/petstore-process.js';

const CONNECTIONS = 1_000;
const BOUND_BYTES = 250_000_000;

/** Connections that send requests and never read. */
class Deaf implements Disposable {
  readonly sockets: Socket[] = [];

  constructor(origin: string, request: string, requests: number, count: number) {
    const { hostname, port } = new URL(origin);
    const bytes = Buffer.from(request.repeat(requests));
    for (let index = 0; index < count; index++) {
      const socket = connect(Number(port), hostname);
      socket.pause();
      socket.on('error', () => undefined);
      socket.write(bytes);
      this.sockets.push(socket);
    }
  }

  get areConnected(): boolean {
    return this.sockets.every(({ connecting }) => !connecting);
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

function residentBytes({ pid }: Served): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Processor time, which does not depend on how busy the machine is. */
function workedMs({ pid }: Served): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

describe('clients that never read', () => {
  async function start(workplace: Workplace) {
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const issue = ['keys', 'issue', '--name', 'test', '--plan', 'enterprise', ...limits];
    await workplace.json('seed', '--pets', '200');
    const [{ key }, served] = await Promise.all([
      workplace.json(...issue),
      workplace.serve({ NODE_ENV: 'production' }),
    ]);
    const authorization = `Authorization: Bearer ${key}\r\n`;
    return { served, key: String(key), authorization };
  }

  /**
   * Sends a request of another client. @returns the processor time of the server until its
   * response, in ms
   */
  async function ask(served: Served, key: string, path: string): Promise<number> {
    const before = workedMs(served);
    const answer = await fetch(served.origin + path, {
      headers: { authorization: `Bearer ${key}` },
    });
    await answer.text();
    expect(answer.status).toBe(200);
    return workedMs(served) - before;
  }

  async function largestAsset({ origin }: Served): Promise<string> {
    const page = await (await fetch(`${origin}/docs`)).text();
    return /"(\/docs\/assets\/[^"]*swagger-ui-bundle\.js)"/.exec(page)![1]!;
  }

  /** What requests occupy that wait for responses that nobody reads. */
  it.each([
    [
      'heads of 14 KB',
      `GET /health/live HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(14_000)}\r\n\r\n`,
      20,
    ],
    [
      'chunks of one byte',
      'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        `Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(10_500)}`,
      1,
    ],
  ])('cost less than 250 MB: %s', async (_what, waiting, count) => {
    using workplace = new Workplace({ LOG_LEVEL: 'warn' });
    const { served, key } = await start(workplace);
    for (let index = 0; index < 200; index++) await ask(served, key, '/v1/pets?limit=100');
    const before = residentBytes(served);
    // More than the buffers of both systems hold.
    const unread = `GET ${await largestAsset(served)} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(8);
    using deaf = new Deaf(served.origin, unread + waiting.repeat(count), 1, CONNECTIONS);
    const untilMs = performance.now() + 5_000;
    while (!deaf.areConnected || performance.now() < untilMs) {
      await ask(served, key, '/health/live');
      expect(residentBytes(served) - before).toBeLessThan(BOUND_BYTES);
    }
    await served.stop('SIGKILL');
  });

  it.each([
    ['/v1/pets?limit=100', 32],
    ['/openapi.json', 32],
    ['/health/ready', 32],
    // More than are admitted.
    ['/docs', 1_600],
    ['the largest asset of /docs', 3],
  ])('cost less than 250 MB and delay no other client by a second: %s', async (what, requests) => {
    using workplace = new Workplace({
      ...{ LOG_LEVEL: 'warn', FAILED_AUTH_PER_MINUTE: '1000000', FAILED_AUTH_PER_DAY: '100000000' },
    });
    const { served, key, authorization } = await start(workplace);
    const path = what.startsWith('/') ? what : await largestAsset(served);
    for (let index = 0; index < 200; index++) await ask(served, key, '/v1/pets?limit=100');
    const before = residentBytes(served);
    const request = (of: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n${of}\r\n`;
    using known = new Deaf(served.origin, request(authorization), requests, CONNECTIONS / 2);
    using unknown = new Deaf(served.origin, request(''), requests, CONNECTIONS / 2);
    const untilMs = performance.now() + 5_000;
    while (!known.areConnected || !unknown.areConnected || performance.now() < untilMs) {
      expect(await ask(served, key, '/health/live')).toBeLessThan(1_000);
      expect(await ask(served, key, '/v1/pets/1')).toBeLessThan(1_000);
      expect(residentBytes(served) - before).toBeLessThan(BOUND_BYTES);
    }
    await served.stop('SIGKILL');
  });
});
