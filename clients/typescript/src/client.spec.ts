import { PetStoreClient } from './client.js';

const html = { headers: { 'content-type': 'text/html' } };
const json = { headers: { 'content-type': 'application/json' } };

/** A client that gets such an answer to whatever it sends. */
function clientOf(answer: () => Response): PetStoreClient {
  const fetch = () => Promise.resolve(answer());
  return new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
}

describe(PetStoreClient.name, () => {
  const calls = {
    createPet: (store: PetStoreClient) => store.createPet({ name: 'Rex', categoryId: 7n }),
    listPets: (store: PetStoreClient) => store.listPets().pages().next(),
    getPet: (store: PetStoreClient) => store.getPet(7n),
    getUsage: (store: PetStoreClient) => store.getUsage(),
  };

  describe.each(Object.entries(calls))('%s', (_operation, call) => {
    it.each([
      ['a page', 200, () => new Response('<!doctype html>', html)],
      ['nothing', 200, () => new Response('')],
      ['no content', 204, () => new Response(null, { status: 204 })],
      ['half a body', 200, () => new Response('{"id":', json)],
      ['a redirect', 302, () => new Response('', { status: 302 })],
    ])('takes %s for no success', async (_what, status, answer) => {
      const error = { name: 'PetStoreError', code: 'unexpected_response', status };
      await expect(call(clientOf(answer))).rejects.toMatchObject(error);
    });
  });

  it.each([
    ['nothing', () => new Response(null, { status: 204 }), undefined],
    ['a text', () => new Response('Good', html), 'Good'],
    ['JSON', () => new Response('{"id":9007199254740993}', json), { id: 9007199254740993n }],
  ])('gives what an operation of a guest answers: %s', (_what, answer, data) =>
    expect(clientOf(answer).request('GET', '/orders')).resolves.toEqual(data),
  );

  it('takes what an operation of a guest that was given a name answers', () => {
    const call = clientOf(() => new Response('Good', html)).request('GET', '/orders', {
      operation: 'listOrders',
    });
    return expect(call).resolves.toBe('Good');
  });

  it.each([
    ['a GET with a body', 'GET', { body: {} }],
    ['a HEAD with a body', 'head', { body: {} }],
    ['a method that cannot be sent', 'TRACE', {}],
    ['a method that is none', 'GET /', {}],
  ])('refuses %s, and sends nothing', async (_what, method, options) => {
    const fetch = jest.fn(() => Promise.reject(new TypeError('fetch failed')));
    const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
    // Not of the test's own realm.
    const error = { name: 'TypeError' };
    await expect(store.request(method, '/orders', options)).rejects.toMatchObject(error);
    expect(fetch).not.toHaveBeenCalled();
  });

  it('tells of a redirect of which a browser tells nothing more', async () => {
    const type = { value: 'opaqueredirect' };
    const store = clientOf(() => Object.defineProperty(Response.error(), 'type', type));
    await expect(store.request('GET', '/orders')).rejects.toMatchObject({
      code: 'unexpected_response',
      message: 'The answer is a bare redirect',
      status: 0,
    });
  });
});
