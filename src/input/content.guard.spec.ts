import { assertReadable } from './content.guard.js';

const check = (headers: Record<string, string>) => () => assertReadable(headers);
const ofType = (type: string) => check({ 'content-type': type });

describe(assertReadable.name, () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json;charset=utf8',
    'application/json ; charset="UTF-8"',
    'application/json; a=b; charset=utf-8; c="d;e\\""',
    'application/json; a="b; charset=latin1"',
    'application/json; charset',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset="utf-8',
    'application/json ; ; charset=utf-8 ; ',
  ])('accepts %s', (type) => {
    expect(ofType(type)).not.toThrow();
  });

  it.each([
    '',
    'application/json5',
    'application/problem+json',
    'application/json, text/plain',
    'application/json charset=utf-8',
    'application/json; charset=utf-16',
    'application/json; a="b"; Charset="utf-16"',
    'application/json; CHARSET="utf-8 "',
  ])('rejects %p with 415', (type) => {
    expect(ofType(type)).toThrow(expect.objectContaining({ status: 415 }));
  });

  it('rejects a body without a type, and an encoded body', () => {
    const json = { 'content-type': 'application/json' };
    expect(check({})).toThrow(expect.objectContaining({ status: 415 }));
    for (const encoding of ['gzip', 'identity, gzip']) {
      expect(check({ ...json, 'content-encoding': encoding })).toThrow(/content encoding/);
    }
    expect(check({ ...json, 'content-encoding': 'Identity' })).not.toThrow();
  });

  it('rejects a long media type at once', () => {
    const startedAt = performance.now();
    expect(ofType(`application/json${' '.repeat(16_000)}!`)).toThrow();
    expect(performance.now() - startedAt).toBeLessThan(100);
  });
});
