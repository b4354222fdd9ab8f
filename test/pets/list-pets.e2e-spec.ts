import { DataSource } from 'typeorm';
import { jsonInProcess } from '../support/run-program.js';
import type { Answer, Client } from '../support/client.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, useService } from '../support/start-service.js';

interface Pet {
  id: number;
  name: string;
  status?: string;
}

/** The path of the next page, undefined on the last. */
function next({ headers }: Answer): string | undefined {
  const [, url] = /^<([^>]+)>; rel="next"$/.exec((headers.link as string | undefined) ?? '') ?? [];
  return url && new URL(url).pathname + new URL(url).search;
}

/** The responses of all pages. */
async function pagesOf(client: Client, first: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let path: string | undefined = first; path !== undefined; path = next(pages.at(-1)!)) {
    pages.push(await client.get(path));
  }
  return pages;
}

const idsIn = (pages: Answer[]): number[] =>
  pages.flatMap((page) => page.json().map(({ id }: Pet) => id));

describe('GET /v1/pets', () => {
  const { service, client } = useService();

  it('responds with an empty array if there are no pets', async () => {
    const answer = await client.get('/v1/pets');
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('[]');
    expect(answer.headers.link).toBeUndefined();
  });

  describe('with 250 pets', () => {
    beforeAll(() => jsonInProcess(service.config.databaseUrl, 'seed', '--pets', '250'));

    it('responds with 20 pets by default, in the order of their ids', async () => {
      const answer = await client.get('/v1/pets');
      expectRateHeaders(answer);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      const ids = answer.json().map(({ id }: Pet) => id);
      expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    });

    it.each([1, 9, 10, 99, 100])(
      'responds with the number of pets of the limit %i',
      async (limit) => {
        expect((await client.get(`/v1/pets?limit=${limit}`)).json()).toHaveLength(limit);
      },
    );

    it.each([
      ...`0 101 1000 -1 +5 05 5.0 1e1 0x5 5.5 %205 5%20 5,6 five null true NaN Infinity`.split(' '),
      ...`1_0 ٥ ५ 5\u200b [] 5; 5%00 9223372036854775808 00 1/1 % %zz "5" 5'--`.split(' '),
      ...['', ' 5', '5 '],
    ])('rejects the limit %p', async (limit) => {
      const answer = await client.get(`/v1/pets?limit=${encodeURI(limit).replaceAll('%25', '%')}`);
      expectError(answer, 400, 'invalid_request');
      expect(answer.json().message).toBe('limit must be an integer between 1 and 100');
    });

    it.each(['available', 'pending', 'sold'])('selects the status %s', async (status) => {
      const pets: Pet[] = (await client.get(`/v1/pets?status=${status}&limit=100`)).json();
      expect(pets).toHaveLength(status === 'available' || status === 'pending' ? 63 : 62);
      expect(new Set(pets.map((pet) => pet.status))).toEqual(new Set([status]));
    });

    it.each(['', 'Available', 'gone', 'available,sold', 'null', 'available%20'])(
      'rejects the status %p',
      async (status) => {
        const answer = await client.get(`/v1/pets?status=${status}`);
        expectError(answer, 400, 'invalid_request');
        expect(answer.json().message).toBe(
          'status must be one of the following values: available, pending, sold',
        );
      },
    );

    it.each([
      ['limit=5&limit=5', ['limit appears more than once']],
      ['status=sold&status=sold', ['status appears more than once']],
      ['page=2', ['"page" is not a known query parameter']],
      ['Limit=5', ['"Limit" is not a known query parameter']],
      ['limit%5B%5D=5', ['"limit[]" is not a known query parameter']],
      ['__proto__=1', ['"__proto__" is not a known query parameter']],
      ['=5', ['"" is not a known query parameter']],
      ['limit=0&status=x&a=1', ['"a" is not', 'limit must be', 'status must be']],
    ])('rejects ?%s and names each fault', async (query, faults) => {
      const answer = await client.get(`/v1/pets?${query}`);
      expectError(answer, 400, 'invalid_request');
      for (const fault of faults) expect(answer.json().message).toContain(fault);
    });

    it.each(['', '?', '?limit=20', '?&limit=20', '?limit=%320'])('accepts %p', async (query) => {
      expect((await client.get(`/v1/pets${query}`)).json()).toHaveLength(20);
    });

    it('links to the next page with the same filter and limit, as an absolute URL', async () => {
      const answer = await client.get('/v1/pets?limit=3&status=sold');
      const { port } = new URL(service.origin);
      expect(answer.headers.link).toMatch(
        new RegExp(
          `^<http://localhost:${port}/v1/pets\\?limit=3&status=sold&cursor=[\\w-]+>; rel="next"$`,
        ),
      );
      const following: Pet[] = (await client.get(next(answer)!)).json();
      expect(following.map(({ id }) => id)).toEqual([15, 19, 23]);
    });

    it('links to no page after the last one, also if it is full', async () => {
      const second = await client.get(next(await client.get('/v1/pets?limit=100'))!);
      const third = await client.get(next(second)!);
      expect(third.json()).toHaveLength(50);
      expect(third.headers.link).toBeUndefined();
      const half = await client.get(next(second)!.replace('limit=100', 'limit=50'));
      expect(half.json()).toHaveLength(50);
      expect(half.headers.link).toBeUndefined();
    });

    it('rejects the cursor of another filter, and an invalid one beside every other fault', async () => {
      const fault =
        'cursor must come from a Link header of this list, and the filter must be the same';
      const all = next(await client.get('/v1/pets?limit=10'))!;
      const other = await client.get(`${all}&status=sold`);
      expectError(other, 400, 'invalid_request');
      expect(other.json().message).toBe(fault);
      const answer = await client.get('/v1/pets?limit=0&cursor=x&more=1');
      expectError(answer, 400, 'invalid_request');
      expect(answer.json().message).toBe(
        `"more" is not a known query parameter; limit must be an integer between 1 and 100; ${fault}`,
      );
    });

    it.each([
      ...'x OjE= OjE%3D 1 Ojow OjAx OjA Oi0x Ojk5OTk5OTk5OTk5OTk5OTk5OTk5 YTox c29sZA'.split(' '),
      ...['', 'A'.repeat(3_000), '%00', '😀'],
    ])('rejects the cursor %.20p', async (cursor) => {
      const answer = await client.get(
        `/v1/pets?cursor=${encodeURI(cursor).replaceAll('%25', '%')}`,
      );
      expectError(answer, 400, 'invalid_request');
      expect(answer.json().message).toMatch(/^cursor must come from a Link header/);
    });

    it.each(['', '&status=sold'])(
      'visits every pet exactly once while others come and go: ?limit=7%s',
      async (filter) => {
        const before = idsIn(await pagesOf(client, `/v1/pets?limit=100${filter}`));
        const dataSource = service.store.app.get(DataSource);
        const writing = Promise.all(
          Array.from({ length: 60 }, async (_, index) => {
            const late = { name: 'Late', categoryId: 1, status: 'sold' };
            const { id } = (await client.post('/v1/pets', late)).json();
            if (index % 3 === 0) await dataSource.query(`DELETE FROM pets WHERE id = ${id}`);
          }),
        );
        const seen = idsIn(await pagesOf(client, `/v1/pets?limit=7${filter}`));
        await writing;
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
        expect(seen).toEqual(expect.arrayContaining(before));
      },
    );
  });

  it('pages through ids of the whole int64 range, exactly', async () => {
    await using far = await startService();
    const caller = await far.client();
    const ids = ['9007199254740993', '9007199254740994', '9223372036854775807'];
    for (const id of ids) {
      await far.store.app
        .get(DataSource)
        .query(`INSERT INTO pets (id, name, category_id) VALUES (${id}, 'Far', 1)`);
    }
    const pages = await pagesOf(caller, '/v1/pets?limit=1');
    expect(pages.map(({ text }) => text)).toEqual(
      ids.map((id) => `[{"id":${id},"name":"Far","categoryId":1}]`),
    );
  });

  it('uses the configured public address, and no Host header', async () => {
    await using behind = await startService({
      env: { PUBLIC_BASE_URL: 'https://api.example.com/pets/v1' },
    });
    const caller = await behind.client();
    const created = await caller.post('/v1/pets', { name: 'Rex', categoryId: 1 }, { host: 'evil' });
    expect(created.headers.location).toBe('https://api.example.com/pets/v1/pets/1');
    await caller.post('/v1/pets', { name: 'Rex', categoryId: 1 });
    const { headers } = await caller.get('/v1/pets?limit=1', { host: 'evil' });
    expect(headers.link).toMatch(/^<https:\/\/api\.example\.com\/pets\/v1\/pets\?limit=1&cursor=/);
  });
});
