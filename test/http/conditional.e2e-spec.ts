import { Controller, Get, Header, Module, Post, StreamableFile } from '@nestjs/common';
import { AnyScope, Public } from '../../src/index.js';
import { expectRateHeaders } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

@AnyScope()
@Controller('toys')
class ToysController {
  @Get()
  toys(): object {
    return [{ name: 'ball' }];
  }

  @Get('tagged')
  @Header('ETag', 'W/"own"')
  tagged(): object {
    return { tagged: true };
  }

  @Get('text')
  text(): string {
    return 'woof';
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('{}'), { type: 'application/json' });
  }

  @Post()
  add(): object {
    return {};
  }
}

@Public()
@Controller('open')
class OpenController {
  @Get()
  open(): object {
    return {};
  }
}

@Module({ controllers: [ToysController, OpenController] })
class ToysModule {}

describe('a conditional request', () => {
  const { client } = useService({ extensions: [{ module: ToysModule }] });
  beforeAll(async () => {
    for (const name of ['Rex', 'Luna', 'Milo']) {
      await client.post('/v1/pets', { name, categoryId: 7 });
    }
  });
  const get = (path: string, tag?: string) =>
    client.get(path, tag === undefined ? {} : { 'if-none-match': tag });

  it.each(['/v1/pets?limit=2', '/v1/pets/1', '/v1/toys'])(
    'to GET %s gets 304 without a body while its strong ETag is current',
    async (path) => {
      const first = await get(path);
      const tag = String(first.headers.etag);
      expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
      for (const field of [tag, `W/${tag}`, `"x", ${tag}`, '*', `"a,b" ,W/"c",${tag}`]) {
        const answer = await get(path, field);
        expect([field, answer.status, answer.text]).toEqual([field, 304, '']);
        expectRateHeaders(answer);
        expect(answer.headers).toMatchObject({ etag: tag, 'cache-control': 'private, no-cache' });
        expect(answer.headers.link).toBe(first.headers.link);
        expect(answer.headers).not.toHaveProperty('content-type');
        expect(answer.headers).not.toHaveProperty('content-length');
      }
      for (const field of ['"other"', 'nonsense', tag.slice(1, -1), '', `"${tag}`]) {
        const answer = await get(path, field);
        expect([field, answer.status, answer.text]).toEqual([field, 200, first.text]);
      }
    },
  );

  it('with HEAD gets the same headers', async () => {
    const { headers } = await client.send('/v1/pets/1', { method: 'HEAD' });
    expect(headers['content-length']).toMatch(/^[1-9]/);
    const answer = await client.send('/v1/pets/1', {
      method: 'HEAD',
      headers: { 'if-none-match': String(headers.etag) },
    });
    expect([answer.status, answer.text]).toEqual([304, '']);
    expect(answer.headers.etag).toBe(headers.etag);
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  it('consumes quota, and sees a changed list', async () => {
    const first = await get('/v1/pets');
    const again = await get('/v1/pets', String(first.headers.etag));
    expect(again.status).toBe(304);
    const remaining = (answer: { headers: Record<string, unknown> }) =>
      Number(answer.headers['x-ratelimit-remaining']);
    expect(remaining(again)).toBeLessThan(remaining(first));
    await client.post('/v1/pets', { name: 'Bella', categoryId: 7 });
    expect((await get('/v1/pets', String(first.headers.etag))).status).toBe(200);
  });

  it.each(['GET', 'HEAD'])('by %s sees that a full page got a successor', async (method) => {
    const limit = (await get('/v1/pets?limit=100')).json().length;
    const read = (headers = {}) => client.send(`/v1/pets?limit=${limit}`, { method, headers });
    const last = await read();
    expect(last.headers).not.toHaveProperty('link');
    await client.post('/v1/pets', { name: 'Bella', categoryId: 7 });
    const full = await read({ 'if-none-match': String(last.headers.etag) });
    expect([full.status, full.text]).toEqual([200, last.text]);
    expect(full.headers.link).toMatch(/rel="next"/);
    expect(full.headers.etag).not.toBe(last.headers.etag);
    const again = await read({ 'if-none-match': String(full.headers.etag) });
    expect([again.status, again.headers.link]).toEqual([304, full.headers.link]);
  });

  it('keeps the ETag of a handler', async () => {
    expect((await get('/v1/toys/tagged')).headers.etag).toBe('W/"own"');
    expect((await get('/v1/toys/tagged', '"own"')).status).toBe(304);
    expect((await get('/v1/toys/tagged', '"other"')).status).toBe(200);
  });

  it.each(['/v1/toys/text', '/v1/toys/file', '/v1/usage', '/v1/key', '/v1/nothing', '/open'])(
    'to %s has no effect: it has no ETag',
    async (path) => {
      const { status, headers } = await get(path);
      expect(headers).not.toHaveProperty('etag');
      expect((await get(path, '*')).status).toBe(status);
    },
  );

  it('by POST has no effect', async () => {
    const answer = await client.post('/v1/toys', {}, { 'if-none-match': '*' });
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty('etag');
  });
});
