import { connect, type Socket } from 'node:net';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

const REGULARS = 300;
const NEWCOMERS = 200;

/** Clients that ask again as soon as they are answered. */
class Crowd implements Disposable {
  answers = 0;
  private readonly sockets: Socket[] = [];
  private readonly answered = new Set<Socket>();

  constructor(origin: string, request: string, size: number) {
    const { hostname, port } = new URL(origin);
    for (let index = 0; index < size; index++) {
      const socket = connect({ port: Number(port), host: hostname, noDelay: true });
      this.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.setEncoding('latin1').on('data', (text: string) => {
        if (!text.startsWith('HTTP/1.1 200 ')) return;
        this.answers++;
        this.answered.add(socket);
        socket.write(request);
      });
      socket.write(request);
    }
  }

  get areAnswered(): boolean {
    return this.answered.size === this.sockets.length;
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

describe('who connects while hundreds ask without a pause', () => {
  let workplace: Workplace;
  beforeEach(() => {
    workplace = new Workplace({ LOG_LEVEL: 'warn', SHED_AFTER_MS: '0' });
  });
  afterEach(() => workplace.remove());

  it('is answered before these are dozens of times more', async () => {
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const issue = ['keys', 'issue', '--name', 'test', '--plan', 'enterprise', ...limits];
    await workplace.json('seed', '--pets', '40');
    const { key } = await workplace.json(...issue);
    const { origin } = await workplace.serve();
    const request = `GET /v1/pets?limit=40 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    using regulars = new Crowd(origin, request, REGULARS);
    await eventually(() => Promise.resolve(regulars.areAnswered));

    const before = regulars.answers;
    using newcomers = new Crowd(origin, request, NEWCOMERS);
    await eventually(() => Promise.resolve(newcomers.areAnswered), 60_000);
    // Were one accepted in each turn that answers, it would be as many as begin in a turn: some 50.
    expect((regulars.answers - before) / NEWCOMERS).toBeLessThan(20);
  });
});
