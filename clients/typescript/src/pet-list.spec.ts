import { PetStoreClient } from './client.js';

const PAGES = ['[{"id":1},{"id":2}]', '[{"id":3},{"id":9223372036854775807}]', '[{"id":5}]'];
const IDS = [1n, 2n, 3n, 9223372036854775807n, 5n];

/** A list of three pages, and the cursors of the requests. */
function createList() {
  const cursors: (string | null)[] = [];
  const fetch = (url: unknown) => {
    const cursor = new URL(String(url)).searchParams.get('cursor');
    cursors.push(cursor);
    const page = Number(cursor ?? 0);
    const link = page < 2 ? `</v1/pets?cursor=${page + 1}>; rel="next"` : '';
    const headers = { link, 'content-type': 'application/json' };
    return Promise.resolve(new Response(PAGES[page], { headers }));
  };
  const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
  return { list: store.listPets(), cursors };
}

const idsOf = (pets: readonly { id: bigint }[]) => pets.map(({ id }) => id);

describe('listPets', () => {
  it('resolves to the first page, and requests it once', async () => {
    const { list, cursors } = createList();
    expect(cursors).toEqual([]);
    expect(idsOf(await list)).toEqual([1n, 2n]);
    expect(idsOf((await list.withResponse()).data)).toEqual([1n, 2n]);
    expect(cursors).toEqual([null]);
  });

  it('iterates over all pets', async () => {
    const ids: bigint[] = [];
    for await (const { id } of createList().list) ids.push(id);
    expect(ids).toEqual(IDS);
  });

  it('iterates over the pages', async () => {
    const sizes: number[] = [];
    for await (const pets of createList().list.pages()) sizes.push(pets.length);
    expect(sizes).toEqual([2, 2, 1]);
  });

  it.each([
    [undefined, 5, 3],
    [9, 5, 3],
    [4, 4, 2],
    [3, 3, 2],
    [0, 0, 0],
  ])('collects all({ limit: %p }) into an array', async (limit, pets, requests) => {
    const { list, cursors } = createList();
    expect(idsOf(await list.all({ limit }))).toEqual(IDS.slice(0, pets));
    expect(cursors).toHaveLength(requests);
  });

  it.each([-1, Number.NaN])('rejects a limit of %p', (limit) =>
    expect(createList().list.all({ limit })).rejects.toThrow(RangeError),
  );

  it('rejects like a promise', async () => {
    const fetch = () => Promise.resolve(Response.json({}, { status: 404 }));
    const store = new PetStoreClient({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'psk_', fetch });
    const error = { code: 'unexpected_response', status: 404 };
    await expect(store.listPets().catch((reason: unknown) => reason)).resolves.toMatchObject(error);
    await expect(store.listPets().finally(() => undefined)).rejects.toMatchObject(error);
  });
});
