import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ClassTransformOptions, Exclude, Expose, instanceToPlain } from 'class-transformer';
import { fastify } from 'fastify';
import { eventually } from '../../test/support/eventually.js';
import { loadConfig } from '../config/config.js';
import { getRequestContext, runWithRequest } from '../telemetry/request-context.js';
import {
  GatheredResponse,
  isJsonAnswer,
  isPagedAnswer,
  JsonAnswer,
  PagedAnswer,
  PetStoreAdapter,
  stringifyJson,
} from './answers.js';
import { PublicAddress } from './public-address.js';

class Toy {
  @Expose()
  id = 1;

  @Exclude()
  price = 7;
}
class Toys extends PagedAnswer {}

describe.each<ClassTransformOptions>([
  {},
  { strategy: 'excludeAll' },
  { excludeExtraneousValues: true },
  { strategy: 'excludeAll', excludeExtraneousValues: true, groups: ['keeper'], version: 2 },
])('of a copy that is made with %p', (options) => {
  it('text is sent as it is, with its headers', () => {
    const answer = new JsonAnswer('[1]', [['location', '/toys/1']]);
    const copy = instanceToPlain(answer, options);
    expect(isJsonAnswer(copy)).toBe(true);
    expect(copy).toEqual({ ...answer });
  });

  it('a page has its items, as their class says, and its next one', () => {
    const copy = instanceToPlain(new Toys([new Toy()], { toString: () => 'abc' }), options);
    expect(isPagedAnswer(copy)).toBe(true);
    expect(copy).toMatchObject({ items: [{ id: 1 }], next: 'abc' });
    expect((copy as unknown as Toys).items[0]).not.toHaveProperty('price');
    expect(instanceToPlain(new Toys([], undefined), options)['next']).toBeUndefined();
  });
});

describe(PetStoreAdapter.name, () => {
  it.each([
    ['/v1/toys?limit=1', 'https://zoo.example/api/v1/toys?limit=1&cursor=abc'],
    ['/open/toys?kind=ball', 'https://zoo.example/open/toys?kind=ball&limit=1&cursor=abc'],
    ['/toys', 'https://zoo.example/toys?limit=1&cursor=abc'],
  ])('links from %s to the next page where it is served', async (path, next) => {
    const transport = fastify();
    const address = new PublicAddress(
      loadConfig({ PUBLIC_BASE_URL: 'https://zoo.example/api/v1' }),
    );
    const adapter = new PetStoreAdapter(
      transport,
      { answerUnrouted: () => Promise.resolve(), admitsUnguarded: () => Promise.resolve(true) },
      () => address,
    );
    transport.get('*', (_request, reply) => adapter.reply(reply, new Toys([{ id: 7n }], 'abc')));
    const answer = await transport.inject(path);
    expect(answer.body).toBe('[{"id":7}]');
    expect(answer.headers.link).toBe(`<${next}>; rel="next"`);
  });
});

describe(stringifyJson.name, () => {
  it('writes a BigInt with all of its digits, wherever it stands', () => {
    const value = { id: 9223372036854775807n, list: [1, -9223372036854775808n, undefined] };
    expect(stringifyJson(value)).toBe(
      '{"id":9223372036854775807,"list":[1,-9223372036854775808,null]}',
    );
    expect(stringifyJson(1n)).toBe('1');
  });

  it('writes everything else as JSON.stringify does', () => {
    const value = { at: new Date(0), absent: undefined, text: '"', n: null, list: [1, 'a', {}] };
    expect(stringifyJson(value)).toBe(JSON.stringify(value));
    expect(stringifyJson({ ...value, big: 1n })).toBe(
      `${JSON.stringify(value).slice(0, -1)},"big":1}`,
    );
    const unwritten = { symbol: Symbol('x'), label: () => 'x' };
    expect(stringifyJson({ big: 1n, ...unwritten, list: Object.values(unwritten) })).toBe(
      '{"big":1,"list":[null,null]}',
    );
  });

  it('writes what a value stands for by its toJSON, with all of its digits', () => {
    class Toy {
      constructor(private readonly id: bigint | undefined) {}

      toJSON(): unknown {
        return this.id === undefined ? undefined : { id: this.id, at: new Date(0) };
      }
    }
    const text = '{"id":9223372036854775807,"at":"1970-01-01T00:00:00.000Z"}';
    const toy = new Toy(9223372036854775807n);
    const none = new Toy(undefined);
    expect(stringifyJson(toy)).toBe(text);
    expect(stringifyJson({ toys: [toy, none], none })).toBe(`{"toys":[${text},null]}`);
    class Itself extends Toy {
      override toJSON(): unknown {
        return this;
      }
    }
    expect(stringifyJson([new Itself(1n)])).toBe('[{"id":1}]');
    expect(stringifyJson({ id: 1n, toJSON: 7 })).toBe('{"id":1,"toJSON":7}');
  });
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
        response.on('finish', () => ended.push(getRequestContext()?.id));
        response.writeHead(200);
        response.end('x');
      };
      waiting.push(id === '2' ? end : () => runWithRequest({ id }, end));
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
