import { FakeClock } from '../../test/support/clock.js';
import { loadConfig } from '../config/config.js';
import type { AnswerHeader } from '../http/answers.js';
import { PublicAddress } from '../http/public-address.js';
import type { Events } from '../events/events.js';
import type { IdempotencyService, IdempotentCreation } from '../idempotency/idempotency.service.js';
import { decodeCursor, PetCursor } from './pet-cursor.js';
import type { PetsRepository } from './pets.repository.js';
import { PetsService } from './pets.service.js';

const LARGEST = 9_223_372_036_854_775_807n;
const animal = (id: bigint | number): string =>
  `{"id":${id},"name":"Rex, \\"id\\":7","categoryId":1}`;
const animals = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => animal(first + index));

describe(PetsService.name, () => {
  const pets = { page: jest.fn(), find: jest.fn() };
  const idempotency = { create: jest.fn() };
  const address = new PublicAddress(loadConfig({ PUBLIC_BASE_URL: 'https://api.example.com/v1' }));
  const service = new PetsService(
    pets as unknown as PetsRepository,
    idempotency as unknown as IdempotencyService,
    address,
    { has: () => false } as unknown as Events,
    new FakeClock(),
  );
  beforeEach(() => jest.resetAllMocks());

  describe('list', () => {
    const nextOf = (headers: readonly AnswerHeader[]): URL =>
      new URL(/^<(.*)>; rel="next"$/.exec(new Map(headers).get('link')!)![1]!);

    it('answers a page that is not the last with a link to the animal after its own last', async () => {
      pets.page.mockReturnValue(animals(1, 3));
      const { text, headers } = await service.list({ limit: 2 });
      expect(text).toBe(`[${animals(1, 2).join()}]`);
      const next = nextOf(headers);
      expect(`${next.origin}${next.pathname}`).toBe('https://api.example.com/v1/pets');
      expect(Object.fromEntries(next.searchParams)).toEqual({
        limit: '2',
        cursor: expect.any(String),
      });
      const cursor = decodeCursor(next.searchParams.get('cursor')) as PetCursor;
      expect(cursor).toEqual(new PetCursor(undefined, 2n));
      pets.page.mockReturnValue([]);
      await service.list({ limit: 5, cursor });
      expect(pets.page).toHaveBeenLastCalledWith(undefined, 2n, 6);
    });

    it('keeps the filter on the way through the list', async () => {
      pets.page.mockReturnValue(Promise.resolve(animals(7, 2)));
      const { headers } = await service.list({ limit: 1, status: 'sold' });
      expect(pets.page).toHaveBeenCalledWith('sold', 0n, 2);
      const { searchParams } = nextOf(headers);
      expect(searchParams.get('status')).toBe('sold');
      expect(decodeCursor(searchParams.get('cursor'))).toEqual(new PetCursor('sold', 7n));
    });

    it.each([0, 1, 2])('has no next page behind %i animals of 2', async (count) => {
      pets.page.mockReturnValue(animals(1, count));
      const { text, headers } = await service.list({ limit: 2 });
      expect(JSON.parse(text)).toHaveLength(count);
      expect(headers).toEqual([]);
    });

    it('goes on after the largest ids to their last digit', async () => {
      pets.page.mockReturnValue([animal(LARGEST - 1n), animal(LARGEST)]);
      const { headers } = await service.list({ limit: 1 });
      const cursor = decodeCursor(nextOf(headers).searchParams.get('cursor'));
      expect(cursor).toEqual(new PetCursor(undefined, LARGEST - 1n));
    });
  });

  describe('get', () => {
    it('answers the animal as it is, at once or later', async () => {
      pets.find.mockReturnValueOnce(animal(1)).mockReturnValueOnce(Promise.resolve(animal(1)));
      expect(await service.get('1')).toMatchObject({ text: animal(1) });
      expect(await service.get('1')).toMatchObject({ text: animal(1) });
    });

    it('asks for the largest id to its last digit, and for none beyond', async () => {
      pets.find.mockReturnValue(animal(LARGEST));
      await service.get(String(LARGEST));
      expect(pets.find).toHaveBeenCalledWith(LARGEST);
      expect(() => service.get(String(LARGEST + 1n))).toThrow('There is no such animal');
      expect(pets.find).toHaveBeenCalledTimes(1);
    });

    it.each([
      '',
      '0',
      '01',
      '-1',
      '+1',
      '1.0',
      '1e3',
      ' 1',
      '1\n',
      '１',
      '0x1',
      'x',
      '9'.repeat(400),
    ])('finds no animal by %p, which is not how an id is written', async (petId) => {
      pets.find.mockImplementation((id: bigint) => (id === 0n ? undefined : animal(id)));
      const answer = async (): Promise<unknown> => service.get(petId);
      await expect(answer()).rejects.toMatchObject({ code: 'pet_not_found', status: 404 });
    });

    it('says so where there is none', async () => {
      pets.find.mockReturnValue(Promise.resolve(undefined));
      await expect(service.get('1')).rejects.toMatchObject({ code: 'pet_not_found' });
    });
  });

  describe('create', () => {
    const creation: IdempotentCreation = {
      answer: animal(LARGEST),
      location: `/pets/${LARGEST}`,
      replayed: false,
    };
    const create = () =>
      service.create({ name: 'Rex', categoryId: 1 }, undefined, {
        clientId: 'zoo',
        requestId: 'r',
      });

    it('says where the animal is, in the words of the outside', async () => {
      idempotency.create.mockResolvedValue(creation);
      expect(await create()).toMatchObject({
        text: animal(LARGEST),
        headers: [['location', `https://api.example.com/v1/pets/${LARGEST}`]],
      });
    });

    it('says whether the answer was given before', async () => {
      idempotency.create.mockResolvedValue({ ...creation, replayed: true });
      expect((await create()).headers).toContainEqual(['idempotent-replayed', 'true']);
    });
  });
});
