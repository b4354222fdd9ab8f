import { DataSource } from 'typeorm';
import { Pets, type PetStatus } from 'pet-store-service';
import { type TestService, useService } from '../support/start-service.js';

async function petOf(service: TestService, status?: PetStatus): Promise<bigint> {
  const client = await service.client();
  const answer = await client.post('/v1/pets', { name: 'Rex', categoryId: 7, status });
  client.close();
  return BigInt(answer.json().id as number);
}

describe('Pets, for extensions', () => {
  // Enough connections for all transactions: a busy machine must not let one wait too long.
  const { service } = useService({ env: { DATABASE_POOL_SIZE: '60' } });
  let pets: Pets;
  let dataSource: DataSource;
  beforeAll(() => {
    pets = service.store.app.get(Pets);
    dataSource = service.store.app.get(DataSource);
  });

  it('finds a pet with bigint ids, and null for an unset status', async () => {
    const id = await petOf(service);
    expect(await pets.find(id)).toEqual({ id, name: 'Rex', categoryId: 7n, status: null });
    for (const unknown of [0n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 70n)]) {
      expect(await pets.find(unknown)).toBeUndefined();
      await dataSource.transaction(async (manager) => {
        expect(await pets.lock(unknown, manager)).toBeUndefined();
        await expect(pets.setStatus(unknown, 'sold', manager)).rejects.toMatchObject({
          code: 'pet_not_found',
        });
      });
    }
  });

  it('gives the lock of a pet to one of 20 transactions at a time', async () => {
    const id = await petOf(service, 'available');
    const took = await Promise.all(
      Array.from({ length: 20 }, () =>
        dataSource.transaction(async (manager) => {
          const pet = await pets.lock(id, manager);
          if (pet?.status !== 'available') return false;
          await new Promise(setImmediate);
          await pets.setStatus(id, 'pending', manager);
          return true;
        }),
      ),
    );
    expect(took.filter(Boolean)).toHaveLength(1);
    expect(await pets.find(id)).toMatchObject({ status: 'pending' });
  });

  it('changes a status with the transaction or not at all', async () => {
    const id = await petOf(service, 'available');
    const failing = dataSource.transaction(async (manager) => {
      await pets.setStatus(id, 'sold', manager);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await pets.find(id)).toMatchObject({ status: 'available' });
    await dataSource.transaction((manager) => pets.setStatus(id, null, manager));
    expect(await pets.find(id)).toMatchObject({ status: null });
  });
});
