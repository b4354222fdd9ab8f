import { connect, type Socket } from 'node:net';
import { eventually } from '../support/eventually.js';
import { type Served, Workplace } from '../support/petstore-process.js';
import { createDatabase } from '../support/postgres.js';
import { endOfAnswer } from '../support/raw-answers.js';
import { onPostgres } from '../support/start-service.js';

/** More than are read at once, of which some rest. */
const REGULARS = 600;
const PATIENCE_MS = 60_000;

interface Member {
  socket: Socket;
  answers: number;
}

/** Tells of each answer that is complete, in however many packets it comes. */
function onAnswer(socket: Socket, tell: (answer: string) => void): void {
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    for (let end = endOfAnswer(received); end !== undefined; end = endOfAnswer(received)) {
      const answer = received.slice(0, end);
      received = received.slice(end);
      tell(answer);
    }
  });
}

/** Clients that ask again as soon as they are answered, until they are told that their connection closes. */
class Crowd implements Disposable {
  refusals = 0;
  readonly members: Member[];

  constructor(origin: string, request: string, size: number) {
    const { hostname, port } = new URL(origin);
    this.members = Array.from({ length: size }, () => {
      const socket = connect({ port: Number(port), host: hostname, noDelay: true });
      const member = { socket, answers: 0 };
      socket.on('error', () => undefined);
      onAnswer(socket, (answer) => {
        member.answers++;
        if (answer.startsWith('HTTP/1.1 503 ')) this.refusals++;
        if (!/^connection: close\r$/im.test(answer)) socket.write(request);
      });
      socket.write(request);
      return member;
    });
  }

  get answers(): number {
    return this.members.reduce((sum, { answers }) => sum + answers, 0);
  }

  /** However often each was answered at least, and at most. */
  get bounds(): [least: number, most: number] {
    const answers = this.members.map((member) => member.answers);
    return [Math.min(...answers), Math.max(...answers)];
  }

  async haveAnswers(atLeast: number): Promise<void> {
    await eventually(() => Promise.resolve(this.bounds[0] >= atLeast), PATIENCE_MS);
  }

  [Symbol.dispose](): void {
    for (const { socket } of this.members) socket.destroy();
  }
}

describe('hundreds who ask without a pause', () => {
  let workplace: Workplace;
  let request: string;
  beforeAll(async () => {
    workplace = new Workplace({
      LOG_LEVEL: 'warn',
      SHED_AFTER_MS: '0',
      ...(onPostgres && { DATABASE_URL: await createDatabase(process.env.TEST_POSTGRES_URL!) }),
    });
    await workplace.run('migrate');
    await workplace.json('seed', '--pets', '40');
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    const issue = ['keys', 'issue', '--name', 'test', '--plan', 'enterprise', ...limits];
    const { key } = await workplace.json(...issue);
    request = `GET /v1/pets?limit=40 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  });
  afterAll(() => workplace.remove());

  let served: Served;
  afterEach(() => served.stop('SIGKILL'));

  async function crowd(size: number, env: Record<string, string> = {}): Promise<Crowd> {
    served = await workplace.serve(env);
    const regulars = new Crowd(served.origin, request, size);
    await regulars.haveAnswers(1);
    // Whoever was accepted first has had more by then.
    for (const member of regulars.members) member.answers = 0;
    return regulars;
  }

  it('are answered as often as each other', async () => {
    using regulars = await crowd(REGULARS);
    await regulars.haveAnswers(20);
    const [least, most] = regulars.bounds;
    expect(most).toBeLessThan(2 * least);
  });

  it('are all answered by a server that ends', async () => {
    using regulars = await crowd(REGULARS);
    const before = regulars.members.map(({ answers }) => answers);
    expect(await served.stop()).toBe(0);
    // Whatever had been asked by then: whoever is late to take that answer may find the connection closed behind it.
    const areAnswered = () => regulars.members.every(({ answers }, one) => answers > before[one]!);
    await eventually(() => Promise.resolve(areAnswered()));
  });

  it('are refused where they are too many, and answered again once they are not', async () => {
    using regulars = await crowd(REGULARS, { SHED_AFTER_MS: '10', LOG_LEVEL: 'info' });
    await eventually(() => Promise.resolve(regulars.refusals > 0), PATIENCE_MS);
    using few = new Crowd(served.origin, request, 1);
    regulars[Symbol.dispose]();
    const isOver = () => served.output().includes('No longer overloaded');
    await eventually(() => Promise.resolve(isOver()), PATIENCE_MS);
    await eventually(() => {
      const { answers, refusals } = few;
      [few.members[0]!.answers, few.refusals] = [0, 0];
      return Promise.resolve(answers > 0 && refusals === 0);
    }, PATIENCE_MS);
  });
});
