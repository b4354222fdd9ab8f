import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { eventually } from '../../test/support/eventually.js';
import { currentRequest, onBehalfOf } from '../telemetry/logger.js';
import { GatheredResponse } from './exchange.js';
import type { FastifyInstance } from 'fastify';
import { loadConfig } from '../config/config.js';
import { RouteTable } from './route-table.js';
import { createTransport } from './transport.js';
import { WaitingLine } from '../time/turn.js';

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
    server = createTransport(loadConfig({}), new RouteTable(), application, new WaitingLine());
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

describe(GatheredResponse.name, () => {
  let server: Server<typeof IncomingMessage, typeof GatheredResponse>;
  let respond: (response: GatheredResponse) => void;
  beforeAll(async () => {
    server = createServer({ ServerResponse: GatheredResponse }, (_request, response) =>
      respond(response),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());

  const answer = async (method = 'GET'): Promise<string> => {
    const { port } = server.address() as AddressInfo;
    const [response] = (await once(
      get({ method, port, host: '127.0.0.1', agent: false }),
      'response',
    )) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return text;
  };

  it('leaves when its turn has ended, and has ended for whoever asks before', async () => {
    const seen: unknown[] = [];
    respond = (response) => {
      response.writeHead(200, { 'content-length': 5 });
      response.end('hello');
      seen.push(response.writableEnded, response.finished);
      setImmediate(() => seen.push(response.finished));
    };
    expect(await answer()).toBe('hello');
    expect(seen).toEqual([true, false, true]);
  });

  it('sends the answer that was given first, once', async () => {
    respond = (response) => {
      expect(response.writableEnded).toBe(false);
      response.end('first');
      response.end('second');
    };
    expect(await answer()).toBe('first');
  });

  it('refuses headers that cannot be sent once, and sends the others', async () => {
    const thrown: unknown[] = [];
    respond = (response) => {
      const headers = { location: '/\r\n', 'x-\u00fc': '1', link: ['<a>', '\u20ac'], etag: '"a"' };
      try {
        response.writeHead(200, headers);
      } catch (error) {
        thrown.push((error as NodeJS.ErrnoException).code);
        response.writeHead(500, headers);
      }
      response.end(JSON.stringify(headers));
    };
    expect(JSON.parse(await answer())).toEqual({ etag: '"a"' });
    expect(thrown).toEqual(['ERR_INVALID_CHAR']);
  });

  it('throws what Node throws, at who has ended it so', async () => {
    const thrown: unknown[] = [];
    const attempt = (end: () => unknown): void => {
      try {
        end();
      } catch (error) {
        thrown.push((error as NodeJS.ErrnoException).code);
      }
    };
    respond = (response) => {
      response.statusMessage = 'of two\r\nlines';
      attempt(() => response.end('a'));
      response.destroy();
    };
    await expect(answer()).rejects.toThrow();
    respond = (response) => {
      response.writeHead(200);
      attempt(() => response.end(42));
      response.destroy();
    };
    await expect(answer()).rejects.toThrow();
    expect(thrown).toEqual(['ERR_INVALID_CHAR', 'ERR_INVALID_ARG_TYPE']);
  });

  it('ends within the request that it answers, whoever leaves with it', async () => {
    const ended: (string | undefined)[] = [];
    const waiting: (() => void)[] = [];
    respond = (response) => {
      const id = String(waiting.length);
      const end = (): void => {
        response.on('finish', () => ended.push(currentRequest()?.id));
        response.writeHead(200);
        response.end('x');
      };
      waiting.push(id === '2' ? end : () => onBehalfOf({ id }, end));
      if (waiting.length === 3) for (const each of waiting) each();
    };
    await Promise.all([answer(), answer(), answer()]);
    expect(ended.slice(0, 2)).toEqual(['0', '1']);
  });

  it('takes nothing behind its end', async () => {
    const failed = jest.fn();
    respond = (response) => {
      response.on('error', failed);
      response.writeHead(200, { 'content-length': 5 });
      response.end('first');
      response.write('second');
    };
    expect(await answer()).toBe('first');
    await eventually(() => Promise.resolve(failed.mock.calls.length > 0));
    expect(failed).toHaveBeenCalledWith(
      expect.objectContaining({ code: 'ERR_STREAM_WRITE_AFTER_END' }),
    );
  });

  it('calls back when it has left, and sends what was written before it ended', async () => {
    const left = jest.fn();
    respond = (response) => {
      response.write('a');
      response.write('b');
      response.end('c', 'utf8', left);
    };
    expect(await answer()).toBe('abc');
    await eventually(() => Promise.resolve(left.mock.calls.length > 0));
    expect(left).toHaveBeenCalledTimes(1);
  });

  describe('in one piece', () => {
    const written: string[] = [];
    const watched = (response: GatheredResponse): GatheredResponse => {
      written.length = 0;
      const { socket } = response as { socket: Socket };
      const write = socket._write.bind(socket);
      const writev = socket._writev!.bind(socket);
      jest.spyOn(socket, '_write').mockImplementation((chunk: string, ...rest) => {
        written.push(String(chunk));
        write(chunk, ...rest);
      });
      jest.spyOn(socket, '_writev').mockImplementation((chunks, done) => {
        written.push(...chunks.map(({ chunk }) => String(chunk)));
        writev(chunks, done);
      });
      return response;
    };

    it('sends a text with its header', async () => {
      const left = jest.fn();
      const finished = jest.fn();
      respond = (response) => {
        watched(response).on('finish', finished).writeHead(200, { 'content-length': 6 });
        response.end('h\u00e9llo', 'utf8', left);
      };
      expect(await answer()).toBe('h\u00e9llo');
      await eventually(() => Promise.resolve(left.mock.calls.length > 0));
      expect(written).toEqual([expect.stringMatching(/^HTTP[^]*\r\n\r\nh\u00e9llo$/)]);
      expect([left, finished].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    });

    it.each([
      ['of a length that is not told', {}, 'hello'],
      ['of bytes', { 'content-length': 5 }, Buffer.from('hello')],
    ])('leaves an answer %s to Node', async (_title, headers, body) => {
      respond = (response) => {
        watched(response).writeHead(200, headers);
        response.end(body);
      };
      expect(await answer()).toBe('hello');
      expect(written.length).toBeGreaterThan(1);
    });

    it('sends what was corked by whoever answers when that is uncorked', async () => {
      respond = (response) => {
        response.cork();
        response.writeHead(200, { 'content-length': 5 });
        response.end('hello');
        setImmediate(() => response.uncork());
      };
      expect(await answer()).toBe('hello');
    });

    it('sends no body to HEAD', async () => {
      respond = (response) => {
        response.writeHead(200, { 'content-length': 5 });
        response.end('hello');
      };
      expect(await answer('HEAD')).toBe('');
    });
  });
});
