import { isJson } from './content.guard.js';

describe(isJson.name, () => {
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
    `application/json${' '.repeat(240)}`,
  ])('accepts %s', (type) => {
    expect(isJson({ 'content-type': type })).toBe(true);
  });

  it.each([
    '',
    'application/json5',
    'application/problem+json',
    'application/json, text/plain',
    'application/json charset=utf-8',
    'application/json; charset=utf-16',
    'application/json; charset=cesu-utf-8',
    'application/json; a="b"; Charset="utf-16"',
    'application/json; CHARSET="utf-8 "',
    // Would take long to parse.
    `application/json${' '.repeat(241)}`,
  ])('rejects %p', (type) => {
    expect(isJson({ 'content-type': type })).toBe(false);
  });

  it('rejects a body without a type, and an encoded body', () => {
    const json = { 'content-type': 'application/json' };
    expect(isJson({})).toBe(false);
    for (const encoding of ['gzip', 'identity, gzip']) {
      expect(isJson({ ...json, 'content-encoding': encoding })).toBe(false);
    }
    expect(isJson({ ...json, 'content-encoding': 'Identity' })).toBe(true);
  });
});
