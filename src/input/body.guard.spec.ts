import { once } from 'node:events';
import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import type { UnreadBody } from '../http/request-context.js';
import { judgeBodyHeaders, parseBody, readBody } from './body.guard.js';

const withHeaders = (headers: Record<string, string>) => ({ headers }) as unknown as UnreadBody;
const judge = (headers: Record<string, string>) => () => judgeBodyHeaders(withHeaders(headers));
const judgeType = (type: string) => judge({ 'content-type': type });

describe(judgeBodyHeaders.name, () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json ; charset="UTF-8"',
    'application/json; a=b; charset=utf-8; c="d;e\\""',
    'application/json; a="b; charset=latin1"',
    'application/json;',
    'application/json ; ; charset=utf-8 ; ',
  ])('takes %s', (type) => {
    expect(judgeType(type)).not.toThrow();
  });

  it.each([
    '',
    'application/jsonp',
    'application/json5',
    'application/problem+json',
    ' application/json',
    'text/json',
    'application/json, text/plain',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json; charset=utf-16',
    'application/json; a="b"; Charset="utf-16"',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset="utf-8',
    'application/json; CHARSET="utf-8 "',
    'application/json; charset=',
  ])('refuses %p with 415', (type) => {
    expect(judgeType(type)).toThrow(expect.objectContaining({ status: 415 }));
  });

  it('refuses a body without a type, and one that is coded', () => {
    const json = { 'content-type': 'application/json' };
    expect(judge({})).toThrow(expect.objectContaining({ status: 415 }));
    expect(judge({ ...json, 'content-encoding': 'gzip' })).toThrow(/content encoding/);
    expect(judge({ ...json, 'content-encoding': 'identity, gzip' })).toThrow(/content encoding/);
    expect(judge({ ...json, 'content-encoding': 'Identity' })).not.toThrow();
  });

  it('refuses what is declared too large before a byte is read', () => {
    const declared = (length: string) =>
      judge({ 'content-type': 'application/json', 'content-length': length });
    expect(declared('65536')).not.toThrow();
    expect(declared('65537')).toThrow(expect.objectContaining({ status: 413 }));
    expect(declared('9'.repeat(400))).toThrow(expect.objectContaining({ status: 413 }));
  });

  it.each([' ; ', ';', '; \t', '; a=b ', ';a="\\"', '; charset=utf-8 ', ' '])(
    'takes no longer for a type made to be hard to read, of many %p',
    (part) => {
      const run = (): void => {
        expect(judgeType(`application/json${part.repeat(16_000 / part.length)}!`)).toThrow();
      };
      runInNewContext('run()', { run }, { timeout: 10_000 });
    },
  );
});

describe(readBody.name, () => {
  it('fails at once where somebody has read it already', async () => {
    const body = bodyOf('{}');
    body.resume();
    await once(body, 'end');
    await expect(readBody(body)).rejects.toThrow(
      /has read the body already.*request\.body in a guard/,
    );
  });

  const bodyOf = (...chunks: (string | Buffer)[]): UnreadBody =>
    Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as UnreadBody;
  const unfinished = (): UnreadBody =>
    Object.assign(new Readable({ read: () => undefined }), {
      headers: {},
    }) as unknown as UnreadBody;

  it('joins the chunks, and takes a body of none', async () => {
    expect((await readBody(bodyOf('{"a', '":', '1}'))).toString()).toBe('{"a":1}');
    expect((await readBody(bodyOf('{}'))).toString()).toBe('{}');
    expect(await readBody(bodyOf())).toHaveLength(0);
  });

  it('takes an empty one that somebody has read already, and one that is paused', async () => {
    const empty = bodyOf();
    await once(empty.resume(), 'end');
    expect(await readBody(empty)).toHaveLength(0);
    const paused = bodyOf('{}').pause();
    expect((await readBody(paused)).toString()).toBe('{}');
  });

  it('takes 64 KiB to the byte, and is told no more of what is larger', async () => {
    const half = Buffer.alloc(32_768);
    expect(await readBody(bodyOf(half, half))).toHaveLength(65_536);
    await expect(readBody(bodyOf(half, half, 'x'))).rejects.toMatchObject({ status: 413 });
  });

  it('refuses what is too large while the rest is still to come', async () => {
    const body = unfinished();
    const read = readBody(body);
    body.push(Buffer.alloc(65_537));
    await expect(read).rejects.toMatchObject({ status: 413 });
  });

  it('asks for the body once it is wanted', async () => {
    const acceptBody = jest.fn();
    await readBody(Object.assign(bodyOf('{}'), { acceptBody }));
    expect(acceptBody).toHaveBeenCalledTimes(1);
  });

  it('ends where the client breaks off', async () => {
    const gone = unfinished();
    const read = readBody(gone);
    gone.push('{');
    gone.destroy();
    await expect(read).rejects.toMatchObject({ code: 'malformed_request' });
    const reset = unfinished();
    const other = readBody(reset);
    reset.destroy(new Error('ECONNRESET'));
    await expect(other).rejects.toMatchObject({ code: 'malformed_request' });
  });

  it('ends where the client had broken off before', async () => {
    const gone = unfinished();
    gone.push('{');
    gone.destroy();
    await once(gone, 'close');
    await expect(readBody(gone)).rejects.toMatchObject({ code: 'malformed_request' });
  });

  it('fails with what the transport found wrong, before it reads and while it does', async () => {
    const failure = new Error('bad chunk');
    await expect(readBody(Object.assign(unfinished(), { failure }))).rejects.toBe(failure);
    const body = unfinished();
    const read = readBody(body);
    body.fail!(failure);
    await expect(read).rejects.toBe(failure);
  });
});

describe(parseBody.name, () => {
  const parse = (text: string | Buffer) => () => parseBody(Buffer.from(text));

  it('gives the members, an int64 to its last digit', () => {
    expect(parse('{"id":9223372036854775807}')()).toEqual({ id: 9223372036854775807n });
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /it is empty/],
    ['half of it', '{"a":', /not JSON/],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /it is not UTF-8/],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /it is not UTF-8/],
    ['a byte order mark', '\ufeff{}', /not JSON/],
    ['UTF-16', Buffer.from('{}', 'utf16le'), /not JSON/],
  ])('takes %s for no JSON', (_what, text, message) => {
    expect(parse(text)).toThrow(expect.objectContaining({ code: 'malformed_json' }));
    expect(parse(text)).toThrow(message);
  });

  it('names each member that is given twice', async () => {
    const message = '"name" is given twice; "id" is given twice';
    await expect(parse('{"name":1,"id":1,"n\\u0061me":2,"id":2}')()).rejects.toMatchObject({
      code: 'invalid_request',
      message,
    });
  });

  it('refuses what is nested too deep for those who come after', () => {
    const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    expect(parse(deep)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
