import { PetStoreClient } from './client.js';
import type { RequestEvent } from './options.js';

const html = { headers: { 'content-type': 'text/html' } };
const json = { headers: { 'content-type': 'application/json' } };

/** A client whose requests all get this response. */
function clientOf(respond: () => Response): PetStoreClient {
  const fetch = () => Promise.resolve(respond());
  return new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
}

describe(PetStoreClient.name, () => {
  const calls = {
    createPet: (store: PetStoreClient) => store.createPet({ name: 'Rex', categoryId: 7n }),
    listPets: (store: PetStoreClient) => store.listPets().pages().next(),
    getPet: (store: PetStoreClient) => store.getPet(7n),
    getUsage: (store: PetStoreClient) => store.getUsage(),
    getUsageHistory: (store: PetStoreClient) => store.getUsageHistory({ hours: 2 }),
    getKey: (store: PetStoreClient) => store.getKey(),
    rotateKey: (store: PetStoreClient) => store.rotateKey(),
  };

  describe.each(Object.entries(calls))('%s', (_operation, call) => {
    it.each([
      ['an HTML page', 200, () => new Response('<!doctype html>', html)],
      ['nothing', 200, () => new Response('')],
      ['no content', 204, () => new Response(null, { status: 204 })],
      ['half a body', 200, () => new Response('{"id":', json)],
      ['a redirect', 302, () => new Response('', { status: 302 })],
    ])('rejects %s', async (_case, status, respond) => {
      const error = { name: 'PetStoreError', code: 'unexpected_response', status };
      await expect(call(clientOf(respond))).rejects.toMatchObject(error);
    });
  });

  it('sends the operations of a key holder, a rotation without an idempotency key', async () => {
    const sent: unknown[] = [];
    const fetch = (url: unknown, init: RequestInit = {}) => {
      const { method, body } = init;
      sent.push([method, url, body, new Headers(init.headers).has('idempotency-key')]);
      return Promise.resolve(new Response(method === 'DELETE' ? null : '{}', json));
    };
    const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
    await store.rotateKey({ graceSeconds: 60 });
    await store.getUsageHistory({ hours: 2 });
    expect(await store.revokeKey()).toBeUndefined();
    expect(sent).toEqual([
      ['POST', 'http://127.0.0.1/v1/key/rotate', '{"graceSeconds":60}', false],
      ['GET', 'http://127.0.0.1/v1/usage/history?hours=2', undefined, false],
      ['DELETE', 'http://127.0.0.1/v1/key', undefined, false],
    ]);
  });

  describe('revokeKey', () => {
    const rejection = { code: 'invalid_api_key', message: 'revoked', status: 401 };
    const unknown = () => Promise.resolve(Response.json(rejection, { status: 401 }));
    const done = () => Promise.resolve(new Response(null, { status: 204 }));
    const lost = () => Promise.reject(new TypeError('fetch failed'));

    /** A client whose requests get these responses, one after the other. */
    function storeOf(...responses: (() => Promise<Response>)[]): PetStoreClient {
      return new PetStoreClient({
        baseUrl: 'http://127.0.0.1/v1',
        apiKey: 'psk_',
        fetch: () => responses.shift()!(),
      });
    }

    it('takes the 401 of a retry for success if the first response was lost', () =>
      expect(storeOf(lost, unknown).revokeKey()).resolves.toBeUndefined());

    it('takes the 401 of a repeated call for success', async () => {
      const afterLoss = storeOf(lost, unknown);
      const once = { maxRetries: 0 };
      await expect(afterLoss.revokeKey(once)).rejects.toThrow(/No response/);
      await expect(afterLoss.revokeKey(once)).resolves.toBeUndefined();
      const afterSuccess = storeOf(done, unknown);
      await afterSuccess.revokeKey();
      await expect(afterSuccess.revokeKey()).resolves.toBeUndefined();
    });

    it('reports a key that was never valid, each time', async () => {
      const store = storeOf(unknown, unknown, lost, unknown);
      for (let call = 0; call < 2; call++) {
        await expect(store.revokeKey()).rejects.toMatchObject(rejection);
      }
      // Nor does the 401 of another operation become a success.
      await expect(store.getKey()).rejects.toMatchObject(rejection);
    });
  });

  it.each(['http://api.example.com/v1', 'http://127.0.0.1.example.com/v1', 'ftp://localhost/v1'])(
    'sends its key to no address without encryption: %s',
    (baseUrl) => {
      expect(() => new PetStoreClient({ baseUrl, apiKey: 'psk_' })).toThrow(
        /baseUrl must start with https:/,
      );
    },
  );

  it.each([
    ['https://api.example.com/v1', {}],
    ['http://localhost:3000/v1', {}],
    ['http://127.8.0.1:3000/v1', {}],
    ['http://[::1]:3000/v1', {}],
    ['http://petstore.internal/v1', { allowInsecure: true }],
  ])('sends its key to %s with %p', (baseUrl, options) => {
    expect(() => new PetStoreClient({ baseUrl, apiKey: 'psk_', ...options })).not.toThrow();
  });

  it.each([
    [13 * 86_400, 1],
    [15 * 86_400, 0],
    [null, 0],
  ])('reports a key that expires in %p seconds %i times', async (seconds, times) => {
    const expiresAt = seconds && new Date(Date.now() + seconds * 1000);
    const onKeyExpiring = jest.fn();
    const fetch = () => Promise.resolve(new Response(JSON.stringify({ expiresAt }), json));
    const options = { baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch, onKeyExpiring };
    await new PetStoreClient(options).getKey();
    expect(onKeyExpiring).toHaveBeenCalledTimes(times);
  });

  it.each([
    [13, 1],
    [15, 0],
  ])('judges a key that expires in %i days by the clock of the service', async (days, times) => {
    // The clock of this machine is a month ahead.
    const now = Date.now() - 30 * 86_400_000;
    const onKeyExpiring = jest.fn();
    const headers = { date: new Date(now).toUTCString() };
    const key = { expiresAt: new Date(now + days * 86_400_000) };
    const fetch = () => Promise.resolve(Response.json(key, { headers }));
    const options = { baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch, onKeyExpiring };
    await new PetStoreClient(options).getKey();
    expect(onKeyExpiring).toHaveBeenCalledTimes(times);
  });

  it('waits for a date in Retry-After by the clock of the service', async () => {
    const now = Date.now() - 30 * 86_400_000;
    const dateIn = (seconds: number) => new Date(now + seconds * 1000).toUTCString();
    const headers = { date: dateIn(0), 'retry-after': dateIn(90) };
    const body = { code: 'key_banned', message: 'banned', status: 429 };
    const store = clientOf(() => Response.json(body, { status: 429, headers }));
    await expect(store.getUsage()).rejects.toMatchObject({ retryAfterSeconds: 90 });
  });

  it('returns undefined for a pet that the caller has, and asks only on request', async () => {
    const sent: unknown[] = [];
    const fetch = (_url: unknown, init?: RequestInit) => {
      const tag = new Headers(init?.headers).get('if-none-match');
      sent.push(tag);
      const response = tag ? new Response(null, { status: 304 }) : new Response('{"id":7}', json);
      return Promise.resolve(response);
    };
    const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
    expect(await store.getPet(7n)).toEqual({ id: 7n });
    expect(await store.getPet(7n, { ifNoneMatch: '"a"' })).toBeUndefined();
    expect(sent).toEqual([null, '"a"']);
  });

  it.each([
    ['nothing', () => new Response(null, { status: 204 }), undefined],
    ['a text', () => new Response('Good', html), 'Good'],
    ['JSON', () => new Response('{"id":9007199254740993}', json), { id: 9007199254740993n }],
  ])('returns the response of an extension: %s', (_case, respond, data) =>
    expect(clientOf(respond).request('GET', '/orders')).resolves.toEqual(data),
  );

  it('sends the headers of a request, beside its own', async () => {
    const sent: (string | null)[][] = [];
    const fetch = (_url: unknown, init?: RequestInit) => {
      const headers = new Headers(init?.headers);
      sent.push(['if-match', 'accept', 'authorization'].map((name) => headers.get(name)));
      return Promise.resolve(new Response('{}', json));
    };
    const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
    await store.request('PUT', '/labels/7', { headers: { 'If-Match': '"5"' }, body: {} });
    await store.request('GET', '/orders.csv', { headers: { Accept: 'text/csv' } });
    expect(sent).toEqual([
      ['"5"', 'application/json', 'Bearer psk_'],
      [null, 'text/csv', 'Bearer psk_'],
    ]);
  });

  it.each([
    ['a GET with a body', 'GET', { body: {} }],
    ['a HEAD with a body', 'head', { body: {} }],
    ['a forbidden method', 'TRACE', {}],
    ['an invalid method', 'GET /', {}],
  ])('rejects %s, and sends nothing', async (_case, method, options) => {
    const fetch = jest.fn(() => Promise.reject(new TypeError('fetch failed')));
    const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
    // Jest's TypeError is another class.
    const error = { name: 'TypeError' };
    await expect(store.request(method, '/orders', options)).rejects.toMatchObject(error);
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each(['/../admin', '@example.com/', 'https://example.com/', '/..', ''])(
    'sends its key to no address outside the base URL: %s',
    async (path) => {
      const fetch = jest.fn<Promise<Response>, []>();
      const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
      await expect(store.request('GET', path)).rejects.toThrow(
        /path must lead to an address below/,
      );
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  it('reports a redirect in a browser, which hides its status', async () => {
    const type = { value: 'opaqueredirect' };
    const store = clientOf(() => Object.defineProperty(Response.error(), 'type', type));
    await expect(store.request('GET', '/orders')).rejects.toMatchObject({
      code: 'unexpected_response',
      message: 'The response is a redirect without an error body',
      status: 0,
    });
  });

  describe('the API key', () => {
    const before = process.env['PETSTORE_API_KEY'];
    afterEach(() => {
      delete process.env['PETSTORE_API_KEY'];
      if (before !== undefined) process.env['PETSTORE_API_KEY'] = before;
    });

    async function keySent(apiKey?: string): Promise<string | null | undefined> {
      let sent: string | null | undefined;
      const onRequest = ({ headers }: RequestEvent) => (sent = headers.get('authorization'));
      const fetch = () => Promise.resolve(new Response('{}', json));
      await new PetStoreClient({
        baseUrl: 'http://127.0.0.1/v1',
        apiKey,
        fetch,
        onRequest,
      }).getUsage();
      return sent;
    }

    it('comes from PETSTORE_API_KEY unless the option is given', async () => {
      process.env['PETSTORE_API_KEY'] = 'psk_env';
      expect(await keySent()).toBe('Bearer psk_env');
      expect(await keySent('psk_option')).toBe('Bearer psk_option');
    });

    it.each([
      ['missing', undefined, undefined],
      ['empty', '', 'psk_env'],
      ['empty', undefined, ' '],
    ])('is rejected at construction if it is %s: %j, %j', (problem, apiKey, inEnvironment) => {
      delete process.env['PETSTORE_API_KEY'];
      if (inEnvironment !== undefined) process.env['PETSTORE_API_KEY'] = inEnvironment;
      expect(() => new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey })).toThrow(
        new TypeError(
          `apiKey is ${problem}: pass the option apiKey, or set the environment variable PETSTORE_API_KEY`,
        ),
      );
    });

    it('has no default in a browser', () => {
      const { process: own } = globalThis;
      Reflect.deleteProperty(globalThis, 'process');
      try {
        expect(() => new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1' })).toThrow(/is missing/);
      } finally {
        globalThis.process = own;
      }
    });
  });
});
