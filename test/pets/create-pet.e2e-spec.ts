import { DataSource } from 'typeorm';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

describe('POST /v1/pets', () => {
  const { service, client } = useService();

  const post = (body: string, headers = {}) => client.post('/v1/pets', body, headers);

  it('answers 201 with the animal, and where it is', async () => {
    const answer = await post('{"name":"Rex","categoryId":7,"status":"pending"}');
    expect(answer.status).toBe(201);
    expectRateHeaders(answer);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { id } = answer.json();
    expect(answer.text).toBe(`{"id":${id},"name":"Rex","categoryId":7,"status":"pending"}`);
    expect(answer.headers.location).toBe(
      `http://localhost:${new URL(service.origin).port}/v1/pets/${id}`,
    );
    const found = await client.get(`/v1/pets/${id}`);
    expect(found.text).toBe(answer.text);
  });

  it('leaves an absent status absent, and no filter selects it', async () => {
    const answer = await post('{"name":"Nobody","categoryId":7}');
    expect(Object.keys(answer.json())).toEqual(['id', 'name', 'categoryId']);
    for (const status of ['available', 'pending', 'sold']) {
      const list = await client.get(`/v1/pets?status=${status}&limit=100`);
      expect(list.text).not.toContain('Nobody');
    }
  });

  it.each([
    ['-0', '0'],
    ['10e-1', '1'],
    ['-9007199254740993', '-9007199254740993'],
    ['9.223372036854775807e18', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('keeps the categoryId %s to its last digit', async (sent, kept) => {
    const answer = await post(`{"name":"Rex","categoryId":${sent}}`);
    expect(answer.status).toBe(201);
    expect(answer.text).toMatch(new RegExp(`"categoryId":${kept}}$`));
    const path = new URL(answer.headers.location!).pathname;
    expect((await client.get(path)).text).toBe(answer.text);
    const [row] = await service.store.app
      .get(DataSource)
      .query(`SELECT CAST(category_id AS varchar) AS kept FROM pets ORDER BY id DESC LIMIT 1`);
    expect(row.kept).toBe(kept);
  });

  it.each([
    ['ASCII', 'Rex'],
    ['inner and outer spaces', '  a  b '],
    ['quotes and backslashes', '"\\/\'`'],
    ['an emoji', '🐕‍🦺'],
    ['combining marks as sent', 'e\u0301 \u00e9'],
    ['the same, composed and not', 'Åström A\u030astro\u0308m'],
    ['format characters beside visible ones', 'a\u200d\u200bb\ufeff'],
    ['the replacement character, and what is no character', '\ufffd\uffff\u{10ffff}'],
    ['line separators', 'a\u2028b\u2029'],
    ['right to left', '\u202exeR'],
    ['a byte order mark', '\ufeffRex'],
    ['markup', '<script>alert(1)</script>'],
    ['SQL', `'; DROP TABLE pets; --`],
    ['255 characters', 'x'.repeat(255)],
    ['255 characters beyond the BMP', '😀'.repeat(255)],
  ])('keeps a name byte for byte: %s', async (_what, name) => {
    const answer = await post(JSON.stringify({ name, categoryId: 1 }));
    expect(answer.status).toBe(201);
    expect(answer.json().name).toBe(name);
    const path = new URL(answer.headers.location!).pathname;
    expect((await client.get(path)).json().name).toBe(name);
  });

  const NAME = /name must be a string of 1 to 255 characters/;
  const CATEGORY = /categoryId must be an integer from -9223372036854775808 to 9223372036854775807/;
  const STATUS = /status must be one of the following values: available, pending, sold/;
  it.each<[string, RegExp[]]>([
    ['{}', [/name is required/, /categoryId is required/]],
    ['{"name":"Rex","categoryId":1,"id":5}', [/"id" is not a known member/]],
    ['{"name":"Rex","categoryId":1,"__proto__":{}}', [/"__proto__" is not a known member/]],
    ['{"name":"Rex","categoryId":1,"constructor":1}', [/"constructor" is not a known member/]],
    ['{"name":"Rex","categoryId":1,"toString":1}', [/"toString" is not a known member/]],
    [
      '{"name":"Rex","name":"","categoryId":1,"categoryId":2}',
      [/"name" appears more than once with different values; "categoryId" appears more than once/],
    ],
    ['{"name":"","categoryId":"x","status":0,"more":1}', [/"more"/, NAME, CATEGORY, STATUS]],
    ...['[]', 'null', '"Rex"', '7'].map((body): [string, RegExp[]] => [body, [/a JSON object/]]),
    ...[String.raw`a\udc00`, String.raw`\ud83d`].map((name): [string, RegExp[]] => [
      `{"name":"${name}","categoryId":1}`,
      [/^"name" must be well-formed Unicode$/],
    ]),
    [
      String.raw`{"name":"\udc00","categoryId":1,"more":["\ud83d"]}`,
      [/^"name" must be well-formed Unicode; "0" must be well-formed Unicode$/],
    ],
    [`${'['.repeat(2_000)}${']'.repeat(2_000)}`, [/nested/]],
    [`{${Array.from({ length: 2_000 }, (_, i) => `"a${i}":1`).join()}}`, [/values/]],
    [
      `{${Array.from({ length: 900 }, (_, i) => `"a${i}":1`).join()}}`,
      [/"a0" is not a known member; .*"a899" is not a known member/],
    ],
    ...['""', String.raw`" \t\u00a0\u3000"`, String.raw`"\u200b\u2060"`, String.raw`"\u3164"`]
      .concat(
        String.raw`"\u2800"`,
        String.raw`"\ufffc"`,
        '"\u{13441}"',
        String.raw`"\ud834\udd59"`,
        String.raw`"\ufdd0"`,
      )
      .concat(String.raw`"\u00ad \u00ad"`, 'null', '1', 'true', '["Rex"]')
      .concat('{"a":1}', `"${'x'.repeat(256)}"`, `"${'😀'.repeat(256)}"`, String.raw`"a\u0000b"`)
      .concat(String.raw`"a\nb"`, String.raw`"a\u007fb"`, String.raw`"a\u009fb"`)
      .concat(String.raw`"\u2028\u2029\ufeff"`)
      .map((name): [string, RegExp[]] => [`{"name":${name},"categoryId":1}`, [NAME]]),
    ...['null', '"1"', 'true', '[1]', '1.5', '1.00000000000000000001', '9223372036854775808']
      .concat('-9223372036854775809', '1e400', '1e-400')
      .map((id): [string, RegExp[]] => [`{"name":"Rex","categoryId":${id}}`, [CATEGORY]]),
    ...['null', '""', '"Available"', '"gone"', '1', '["sold"]'].map(
      (status): [string, RegExp[]] => [
        `{"name":"Rex","categoryId":1,"status":${status}}`,
        [STATUS],
      ],
    ),
  ])('rejects %.80s and names each fault', async (body, faults) => {
    const answer = await post(body);
    expectError(answer, 400, 'invalid_request');
    expectRateHeaders(answer);
    for (const fault of faults) expect(answer.json().message).toMatch(fault);
    expect(answer.text.length).toBeLessThan(1_500 + 4 * body.length);
  });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['a trailing comma', '{"name":"Rex","categoryId":1,}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('rejects %s as malformed_json', async (_what, body) => {
    const answer = await client.send('/v1/pets', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expectError(answer, 400, 'malformed_json');
  });

  it.each([
    ['a byte order mark before it', '\ufeff{"name":"Rex","categoryId":1}'],
    ['a member given twice with the same value', '{"name":"Rex","name":"Rex","categoryId":1}'],
  ])('accepts a body with %s', async (_what, body) => {
    const answer = await post(body);
    expect([answer.status, answer.json().name]).toEqual([201, 'Rex']);
  });

  it('rejects a body without a type, and an encoded one, with 415', async () => {
    const body = '{"name":"Rex","categoryId":1}';
    expectError(
      await client.send('/v1/pets', { method: 'POST', body }),
      415,
      'unsupported_media_type',
    );
    expectError(await post(body, { 'content-encoding': 'gzip' }), 415, 'unsupported_media_type');
    expect((await post(body, { 'content-encoding': 'identity' })).status).toBe(201);
  });

  it('takes 65,536 bytes, and rejects one more with 413', async () => {
    const body = '{"name":"Rex","categoryId":1}';
    expect((await post(body + ' '.repeat(65_536 - body.length))).status).toBe(201);
    expectError(await post(body + ' '.repeat(65_537 - body.length)), 413, 'payload_too_large');
  });

  it('rejects a query parameter', async () => {
    const answer = await client.post('/v1/pets?dry=1', '{"name":"Rex","categoryId":1}');
    expectError(answer, 400, 'invalid_request');
    expect(answer.json().message).toBe('"dry" is not a known query parameter');
  });

  it('never uses an id again, and gives ever growing ones', async () => {
    const dataSource = service.store.app.get(DataSource);
    const create = async () => Number((await post('{"name":"Rex","categoryId":1}')).json().id);
    const first = await create();
    await dataSource.query(`DELETE FROM pets WHERE id >= ${first}`);
    expect(await create()).toBeGreaterThan(first);
    const many = await Promise.all(Array.from({ length: 50 }, create));
    expect(new Set(many).size).toBe(50);
    expect(Math.min(...many)).toBeGreaterThan(first);
  });
});
