import { fastify } from 'fastify';
import { loadConfig } from '../config/config.js';
import {
  isJsonAnswer,
  isPagedAnswer,
  JsonAnswer,
  PagedAnswer,
  PetStoreAdapter,
  stringifyJson,
} from './answers.js';
import { PublicAddress } from './public-address.js';
import { type ClassTransformOptions, Exclude, Expose, instanceToPlain } from 'class-transformer';

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
