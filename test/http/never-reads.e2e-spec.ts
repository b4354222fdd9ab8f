import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type Served, Workplace } from '../support/petstore-process.js';

const CONNECTIONS = 1_000;
const BOUND_BYTES = 150_000_000;

/** Connections that ask for as much as fits, and read nothing of what they are answered. */
class Deaf implements Disposable {
  readonly sockets: Socket[] = [];

  constructor(origin: string, request: string, count: number, atLeastBytes = 65_536) {
    const { hostname, port } = new URL(origin);
    const bytes = Buffer.from(request.repeat(Math.ceil(atLeastBytes / request.length)));
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

  get areCut(): boolean {
    // One that does not read notices its end when it writes.
    for (const socket of this.sockets) if (socket.writable) socket.write('x');
    return this.sockets.every(({ destroyed }) => destroyed);
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

function residentBytes({ pid }: Served): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Time of the processor, which tells the same on a machine that others keep busy. */
function workedMs({ pid }: Served): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

describe('clients that never read', () => {
  let workplace: Workplace;
  beforeEach(() => {
    workplace = new Workplace({
      LOG_LEVEL: 'warn',
      // As `petstore` and the container start it.
      NODE_OPTIONS: '--max-semi-space-size=8',
      FAILED_AUTH_PER_MINUTE: '1000000',
      FAILED_AUTH_PER_DAY: '100000000',
    });
  });
  afterEach(() => workplace.remove());

  async function start(env: Record<string, string> = {}) {
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const issue = ['keys', 'issue', '--name', 'test', '--plan', 'enterprise', ...limits];
    await workplace.json('seed', '--pets', '200');
    const [{ key }, served] = await Promise.all([
      workplace.json(...issue),
      workplace.serve({ NODE_ENV: 'production', ...env }),
    ]);
    const authorization = `Authorization: Bearer ${key}\r\n`;
    return { served, key: String(key), authorization };
  }

  /** Somebody else, who tells what the server worked, in ms, before it came to the answer. */
  async function ask(served: Served, key: string, path: string): Promise<number> {
    const before = workedMs(served);
    const answer = await fetch(served.origin + path, {
      headers: { authorization: `Bearer ${key}` },
    });
    await answer.text();
    expect(answer.status).toBe(200);
    return workedMs(served) - before;
  }

  const page = '/v1/pets?limit=100';
  it.each([page, '/openapi.json'])(
    'cost no more than one request of each, and nobody waits for them, with a key and without: %s',
    async (path) => {
      const metricsPort = await freePort();
      const { served, key, authorization } = await start({ METRICS_PORT: String(metricsPort) });
      const answered = async (): Promise<number> => {
        const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        const counts = metrics.matchAll(
          /^petstore_http_request_duration_seconds_count\S* (\d+)$/gm,
        );
        return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
      };
      for (let index = 0; index < 200; index++) await ask(served, key, page);
      for (let index = 0; index < 20; index++) await ask(served, key, '/openapi.json');
      const before = residentBytes(served);

      const request = (of: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n${of}\r\n`;
      using known = new Deaf(served.origin, request(authorization), CONNECTIONS / 2);
      using unknown = new Deaf(served.origin, request(''), CONNECTIONS / 2);
      // What they cost, they cost by then: all were begun, and given up by Node, and answered further.
      const enough = (await answered()) + 5 * CONNECTIONS;
      const areConnected = () => known.areConnected && unknown.areConnected;
      while (!areConnected() || (await answered()) < enough) {
        expect(await ask(served, key, '/health/live')).toBeLessThan(1_000);
        expect(await ask(served, key, '/v1/pets/1')).toBeLessThan(1_000);
        expect(residentBytes(served) - before).toBeLessThan(2 * BOUND_BYTES);
      }
      await eventually(async () => {
        await ask(served, key, '/health/live');
        return residentBytes(served) - before < BOUND_BYTES;
      });
      await served.stop('SIGKILL');
    },
  );

  it('are cut when they have taken nothing for SEND_TIMEOUT_SECONDS, and who takes something is not', async () => {
    const { served, authorization } = await start({ SEND_TIMEOUT_SECONDS: '2' });
    const request = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;
    // More than the buffers of both kernels hold: 4,000 pages of some 8 KB.
    using deaf = new Deaf(served.origin, request, 3, 600_000);
    using slow = new Deaf(served.origin, request, 1, 600_000);
    const [reader] = slow.sockets as [Socket];
    let received = 0;
    reader.on('readable', () => undefined);
    const timer = setInterval(() => {
      received += (reader.read() as Buffer | null)?.length ?? 0;
    }, 100);
    try {
      await eventually(() => Promise.resolve(deaf.areCut));
      const before = received;
      await eventually(() => Promise.resolve(received > before));
    } finally {
      clearInterval(timer);
    }
    expect(reader.destroyed).toBe(false);
    await served.stop();
  });
});
