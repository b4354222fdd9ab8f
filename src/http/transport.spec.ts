import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { eventually } from '../../test/support/eventually.js';
import { type Config, loadConfig } from '../config/config.js';
import { AdmissionQueue, type Connection } from './admission-queue.js';
import { RouteTable } from './route-table.js';
import { createTransport } from './transport.js';

describe(createTransport.name, () => {
  const here = new AsyncLocalStorage<string>();
  /** Each request in a context of its own, as tracing has it. */
  const config = {
    tracing: {},
    corsOrigins: [] as string[],
    requestTimeoutSeconds: 30,
    headersTimeoutSeconds: 10,
    sendTimeoutSeconds: 30,
  } as Partial<Config> as Config;

  let inLine: ((waitedMs: number) => void)[];
  let accepted: number;
  let rested: Connection[];
  let answered: number[];
  let begun: (string | undefined)[];
  let readiness: { isDraining: boolean };
  let answer: (request: FastifyRequest) => Promise<string> | string;
  let server: FastifyInstance;
  beforeEach(async () => {
    [inLine, rested, answered, begun] = [[], [], [], []];
    accepted = 0;
    readiness = { isDraining: false };
    const line = {
      join: (begin) => void inLine.push(begin),
      accepted: () => void accepted++,
      rest: (connection) => void rested.push(connection),
    } as Partial<AdmissionQueue> as AdmissionQueue;
    const application = {
      judge: () => Promise.resolve(),
      admit: () => Promise.resolve(),
      sendError: () => undefined,
      answered: [(_request: unknown, status: number) => void answered.push(status)],
      answeredUnread: () => undefined,
      readiness,
    };
    const trace = (message: unknown): void => {
      const { fastify } = message as { fastify: FastifyInstance };
      fastify.addHook('onRequest', (request, _reply, done) => here.run(request.url, done));
    };
    subscribe('fastify.initialization', trace);
    server = createTransport(config, new RouteTable(), application, line, []);
    unsubscribe('fastify.initialization', trace);
    answer = () => 'here';
    server.get('/*', async (request, reply) => {
      begun.push(here.getStore());
      return reply.send(await answer(request));
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => server.close());

  const ask = (path: string, headers = '') => {
    const client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    let text = '';
    client.on('data', (chunk) => (text += chunk.toString()));
    return { client, text: () => text };
  };
  const until = (condition: () => boolean) => eventually(() => Promise.resolve(condition()));

  it('does not begin for whoever has hung up in line, and tells of it as that', async () => {
    const { client } = ask('/a');
    await until(() => inLine.length === 1);
    client.resetAndDestroy();
    await until(() => answered.length === 1);
    inLine[0]!(5);
    expect(answered).toEqual([499]);
    expect(begun).toEqual([]);
  });

  it('tells likewise of whoever hangs up before anything is answered', async () => {
    let finish!: (text: string) => void;
    answer = () => new Promise((resolve) => (finish = resolve));
    const { client } = ask('/a');
    await until(() => inLine.length === 1);
    inLine[0]!(0);
    await until(() => begun.length === 1);
    client.resetAndDestroy();
    await until(() => answered.length === 1);
    finish('late');
    expect(answered).toEqual([499]);
  });

  it('begins each in the context of its own, whoever has it begin', async () => {
    const asked = ['/a', '/b'].map((path) => ask(path));
    await until(() => inLine.length === 2);
    here.run('somebody else', () => inLine.forEach((begin) => begin(5)));
    await until(() => asked.every(({ text }) => text().endsWith('here')));
    expect(begun.toSorted()).toEqual(['/a', '/b']);
    for (const { client } of asked) client.destroy();
  });

  it('closes the connection of whoever was in line when the service began to stop', async () => {
    const { client, text } = ask('/a');
    await until(() => inLine.length === 1);
    readiness.isDraining = true;
    inLine[0]!(5);
    await until(() => text().endsWith('here'));
    expect(text().toLowerCase()).toContain('connection: close');
    client.destroy();
  });

  it('has nobody wait who looks after the process', async () => {
    const { client, text } = ask('/health/live');
    await until(() => text().endsWith('here'));
    expect(inLine).toEqual([]);
    client.destroy();
  });

  /** From Node 25 on each has a turn of its own. */
  const isReadByNode = Number.parseInt(process.versions.node) < 25;

  it.each([
    { when: 'behind an answer', path: '/a', headers: '', rests: isReadByNode },
    { when: 'which closes', path: '/a', headers: 'Connection: close\r\n', rests: false },
    { when: 'behind a probe of health', path: '/health/live', headers: '', rests: false },
  ])('has a connection rest $when: $rests', async ({ path, headers, rests }) => {
    const { client } = ask(path, headers);
    if (path === '/a') {
      await until(() => inLine.length === 1);
      inLine[0]!(0);
    }
    await until(() => answered.length === 1);
    expect(rested.length).toBe(rests ? 1 : 0);
    client.destroy();
  });

  it('accepts a connection once, and has none rest whose requests are handed on one by one', async () => {
    const { client, text } = ask('/a', '\r\nGET /b HTTP/1.1\r\nHost: x\r\n');
    for (const one of [0, 1]) {
      await until(() => inLine.length > one);
      inLine[one]!(0);
    }
    await until(() => answered.length === 2);
    // The first was read by Node itself, which has given the connection up since.
    expect(rested.length).toBe(isReadByNode ? 1 : 0);
    expect(accepted).toBe(1);
    await until(() => text().match(/HTTP\/1.1 200/g)?.length === 2);
    client.destroy();
  });

  it('says nothing of origins where none is configured', async () => {
    const { client, text } = ask('/health/live', 'Origin: https://app.example.com\r\n');
    await until(() => text().endsWith('here'));
    expect(text().toLowerCase()).not.toMatch(/vary|access-control/);
    client.destroy();
  });

  describe('a request without a body', () => {
    it.each<[string, (body: IncomingMessage) => Promise<unknown>]>([
      [
        'an iteration',
        async (body) => {
          for await (const chunk of body) expect(chunk).toBeUndefined();
        },
      ],
      ['listeners', (body) => once(body.resume(), 'end')],
      [
        'reading',
        (body) =>
          once(
            body.on('readable', () => body.read()),
            'end',
          ),
      ],
      ['a pipeline', (body) => pipeline(body, new PassThrough().resume())],
    ])('ends for whoever reads it by %s', async (_how, read) => {
      answer = async ({ raw }) => {
        await read(raw);
        return 'read';
      };
      const { text, client } = ask('/a');
      await until(() => inLine.length === 1);
      inLine[0]!(0);
      await until(() => text().endsWith('read'));
      client.destroy();
    });

    it('ends and closes once it is answered, read or not, whatever becomes of its headers', async () => {
      const events: string[] = [];
      answer = ({ raw }) => {
        raw.headers['content-length'] = '0';
        for (const event of ['end', 'close']) raw.on(event, () => events.push(event));
        return 'answered';
      };
      const { client } = ask('/a');
      await until(() => inLine.length === 1);
      expect(events).toEqual([]);
      inLine[0]!(0);
      await until(() => events.length === 2);
      expect(events).toEqual(['end', 'close']);
      client.destroy();
    });
  });
});

const BODY = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const OFFER =
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n';
const head = (line: string, ...fields: string[]) =>
  `${line} HTTP/1.1\r\nHost: x\r\n${fields.join('')}\r\n`;
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const inChunks = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** Each with what is answered to it. */
const REQUESTS: Record<string, [text: string, answer: string]> = {
  'a GET': [head('GET /a'), 'GET /a '],
  'a POST': [head('POST /b', LENGTH) + BODY, `POST /b ${BODY}`],
  'a POST in chunks': [head('POST /c', CHUNKED) + inChunks, `POST /c ${BODY}`],
  'an offer': [head('GET /d', OFFER), 'GET /d '],
  'an offer with a body': [head('POST /e', OFFER, LENGTH) + BODY, `POST /e ${BODY}`],
  'an offer with a body in chunks': [head('POST /f', CHUNKED, OFFER) + inChunks, `POST /f ${BODY}`],
};

/** On the transport alone, so that every release of Node can be asked. */
describe('a connection', () => {
  let server: FastifyInstance;
  beforeAll(async () => {
    const application = {
      judge: () => Promise.resolve(),
      admit: () => Promise.resolve(),
      sendError: () => undefined,
      answered: [],
      answeredUnread: () => undefined,
      readiness: { isDraining: false },
    };
    server = createTransport(loadConfig({}), new RouteTable(), application, new AdmissionQueue());
    server.all('/*', async ({ raw, url, method }) => {
      let body = '';
      for await (const chunk of raw) body += String(chunk);
      return `${method} ${url} ${body}|`;
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  /** What is answered to the packets, the last of which ends the connection. */
  async function answersTo(packets: readonly string[]): Promise<string[]> {
    const client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    const [first = '', ...others] = packets;
    client.write(first);
    for (const packet of others) {
      await once(client, 'data');
      client.write(packet);
    }
    await once(client, 'close');
    return text
      .split('|')
      .slice(0, -1)
      .map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4));
  }
  const LAST = head('GET /last', 'Connection: close\r\n');

  it.each(Object.keys(REQUESTS))(
    'answers all that comes in one packet behind %s',
    async (first) => {
      const all = [REQUESTS[first]!, ...Object.values(REQUESTS), ...Object.values(REQUESTS)];
      const answers = await answersTo([all.map(([text]) => text).join('') + LAST]);
      expect(answers).toEqual([...all.map(([, answer]) => answer), 'GET /last ']);
    },
  );

  it.each(Object.keys(REQUESTS))(
    'takes a body for a body that comes behind the packet with its head and %s',
    async (first) => {
      const [text, answer] = REQUESTS[first]!;
      const answers = await answersTo([text + head('POST /b', LENGTH), BODY + LAST]);
      expect(answers).toEqual([answer, `POST /b ${BODY}`, 'GET /last ']);
    },
  );
});
