import { stringifyJson } from './json-text.js';

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
