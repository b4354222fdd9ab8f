import { Module } from '@nestjs/common';
import type { Answer, Client } from '../support/client.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { VisitsController } from '../support/ordinary-guest.js';
import { startService, type TestService } from '../support/start-service.js';

@Module({ controllers: [VisitsController] })
class VisitsModule {}

const rex = { visitor: 'Ann', when: 'morning' };
const ball = { name: 'ball', size: 1 };

describe("a guest's ordinary input", () => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService({ extensions: [{ module: VisitsModule }] });
    client = await service.client();
  });
  afterAll(() => service.close());

  const refused = (answer: Answer, message: string | RegExp): void => {
    expectError(answer, 400, 'invalid_request');
    expectRateHeaders(answer);
    expect(answer.json().message).toMatch(message);
  };
  const got = async (path: string): Promise<unknown> =>
    (await client.get(`/v1/visits/${path}`)).json();
  const posted = async (path: string, body: unknown): Promise<unknown> =>
    (await client.post(`/v1/visits${path}`, body)).json();

  it('is a DTO of its own class, nested ones too, with its initialiser run for each request', async () => {
    const sent = { ...rex, favourite: ball, toys: [ball] };
    const answer = { isVisit: true, isToy: true, visit: { ...sent, notes: ['made'] } };
    expect(await posted('', sent)).toEqual(answer);
    expect(await posted('', sent)).toEqual(answer);
  });

  it.each([
    [{ ...rex, more: 1 }, '"more" is not a known member'],
    [{ ...rex, notes: ['mine'] }, '"notes" is not a known member'],
    [{ ...rex, toString: 1 }, '"toString" is not a known member'],
    [{ ...rex, favourite: { ...ball, more: 1 } }, '"favourite.more" is not a known member'],
    [{ ...rex, favourite: { ...ball, constructor: 'x' } }, '"favourite.constructor" is not'],
    [{ ...rex, toys: [ball, { ...ball, valueOf: 1 }] }, '"toys.1.valueOf" is not a known member'],
    [
      { ...rex, toys: [{ name: 'too long', size: 0 }] },
      /toys\.0\.name must be .*toys\.0\.size must/,
    ],
    [{ visitor: 'ann', when: 'noon' }, /visitor must match .*; when must be one of/],
    [{ ...rex, favourite: 'x' }, /favourite/],
    [[], /must be a JSON object/],
  ])('refuses %j, naming each fault', async (body, message) => {
    refused(await client.post('/v1/visits', body), message);
  });

  it.each([
    '{"__proto__":{"x":1}}',
    '{"favourite":{"__proto__":{"size":1}}}',
    '{"constructor":{}}',
  ])('gives %s no meaning, to a DTO and to a plain body', async (text) => {
    refused(await client.post('/v1/visits', text), /"[a-z._]+" is not a known member/);
    refused(await client.post('/v1/visits/plain', text), /"[a-z._]+" is not a known member/);
  });

  it('is one member of the body, where only that is asked for', async () => {
    expect(await posted('/name', { name: 'Rex', age: 3, more: 1 })).toEqual({
      name: 'Rex',
      age: 3,
    });
    expect(await posted('/name', {})).toEqual({});
  });

  it('is a plain object, int64 to the last digit', async () => {
    const answer = await client.post('/v1/visits/plain', '{"id":9223372036854775807,"a":[{}]}');
    expect(answer.text).toBe('{"isPlain":true,"body":{"id":9223372036854775807,"a":[{}]}}');
  });

  it('goes through its own pipes', async () => {
    expect(await posted('/list', [ball])).toEqual({ count: 1, areToys: true });
    refused(await client.post('/v1/visits/list', [{ name: 1 }]), /name/);
    const put = (body: unknown) =>
      client.send('/v1/visits/own-pipe', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await put(ball)).json()).toEqual(ball);
    refused(await put({ ...ball, more: 1 }), '"more" is not a known member');
    expect(await got('numbers/2?add=3')).toEqual({ sum: 5 });
    refused(await client.get('/v1/visits/numbers/x?add=3'), /numeric string/);
    refused(await client.get('/v1/visits/numbers/2'), /numeric string/);
    expect(await got('shout/hello')).toEqual({ word: 'HELLO', mood: null });
  });

  it('is on the request, for decorators and guards of its own', async () => {
    expect(await posted('/request', { a: 1 })).toEqual({ body: { a: 1 } });
    expect((await client.send('/v1/visits/request', { method: 'POST' })).json()).toEqual({
      body: null,
    });
    expect(await posted('/sender', { sender: 'Ann' })).toEqual({ sender: 'Ann' });
    expect((await client.post('/v1/visits/guarded', { open: true })).status).toBe(202);
    expectError(await client.post('/v1/visits/guarded', {}), 403, 'forbidden');
    expectError(await client.post('/v1/visits/request', '{'), 400, 'malformed_json');
  });

  it('is ignored where no one asks for it', async () => {
    const text = { 'content-type': 'text/plain' };
    expect((await client.post('/v1/visits/nothing', 'no json', text)).status).toBe(201);
  });

  it('costs no byte of a body without a key', async () => {
    const answer = await service.anonymous().post('/v1/visits/plain', '{');
    expectError(answer, 401, 'missing_api_key');
  });

  it('is judged by a schema where one is declared, and documented', async () => {
    expect(await posted('/kennels', { name: 'North' })).toEqual({ name: 'North', boxes: 3 });
    refused(
      await client.post('/v1/visits/kennels', { name: 'N', boxes: 'x', more: 1 }),
      /name: .*boxes: .*more/,
    );
    expect(await got('kennels?open=yes&near=a&near=b')).toEqual({ open: 'yes', near: ['a', 'b'] });
    refused(await client.get('/v1/visits/kennels?open=maybe'), /open: /);
    refused(await client.get('/v1/visits/kennels?open=yes&more=1'), /"more" is not a known query/);
    refused(await client.get('/v1/visits/kennels?open=yes&open=no'), /open is given twice/);
    expect(await got('kennels/7')).toEqual({ id: 7 });
    refused(await client.get('/v1/visits/kennels/x'), /^id: /);
    const { paths } = (await service.anonymous().get('/openapi.json')).json();
    const { post, get } = paths['/visits/kennels'];
    expect(post.requestBody.content['application/json'].schema.properties.name).toMatchObject({
      type: 'string',
      minLength: 2,
    });
    expect(get.parameters.map(({ name }: { name: string }) => name)).toEqual(['open', 'near']);
  });

  it('is a query parameter that is declared, by whatever means, and given once', async () => {
    expect(await got('page')).toEqual({ page: null });
    expect(await got('page?page=2')).toEqual({ page: '2' });
    refused(
      await client.get('/v1/visits/page?q=1&page=1&page=2'),
      '"q" is not a known query parameter; page is given twice',
    );
    expect(await got('paging?page=2&tags=a&tags=b')).toEqual({
      isPaging: true,
      page: 2,
      tags: ['a', 'b'],
    });
    expect(await got('paging')).toEqual({ isPaging: true, page: 1 });
    refused(
      await client.get('/v1/visits/paging?page=0&x=1'),
      /^"x" is not a known .*; page must not be less than 1$/,
    );
    expect(await got('documented?colour=red&size=1&size=2')).toEqual({
      colour: 'red',
      size: ['1', '2'],
    });
    refused(
      await client.get('/v1/visits/documented?colour=red&colour=blue'),
      'colour is given twice',
    );
    refused(await client.get('/v1/visits/documented?__proto__=1'), /not a known query parameter/);
  });
});
