import { PetStoreClient } from '../../clients/typescript/src/client.js';
import { FakeClock } from '../support/clock.js';
import { startService } from '../support/start-service.js';
import { VirtualTime } from './virtual-time.js';

const rex = { name: 'Rex', categoryId: 7n };

/** Clients on one key of 1,000 requests a minute, and the minutes in which they were refused. */
async function startCrowd(size: number, answersTakeMs = 0) {
  const clock = new FakeClock();
  const time = new VirtualTime(clock, answersTakeMs);
  const service = await startService({ clock });
  const { key } = await service.client({ plan: 'business' });
  const refusedAt: string[] = [];
  const clients = Array.from({ length: size }, () => {
    const onResponse = ({ status }: { status: number }) => {
      if (status === 429) refusedAt.push(new Date(clock.now()).toISOString().slice(0, 16));
    };
    return new PetStoreClient(
      { baseUrl: `${service.origin}/v1`, apiKey: key!, fetch: time.fetch, onResponse },
      time,
    );
  });
  const refused = (): number => {
    const counts = new Map<string, number>();
    for (const minute of refusedAt) counts.set(minute, (counts.get(minute) ?? 0) + 1);
    return Math.max(0, ...counts.values());
  };
  return { time, clients, refused, [Symbol.asyncDispose]: () => service.close() };
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

describe('clients on one key of 1,000 requests a minute', () => {
  // Whoever generates a client writes its back-off by hand: OpenAPITools/openapi-generator#10384, #18240.
  it('get 3,000 creates through, 60 of them in parallel, without a ban', async () => {
    await using crowd = await startCrowd(60);
    const work = crowd.clients.map(async (client) => {
      const ids: bigint[] = [];
      for (let created = 0; created < 50; created++) ids.push((await client.createPet(rex)).id);
      return ids;
    });
    const ids = (await crowd.time.passUntil(Promise.all(work))).flat();
    expect(new Set(ids).size).toBe(3_000);
    expect(crowd.refused()).toBeLessThanOrEqual(60);
  }, 180_000);

  it('are not banned either where each sends all of its own at once to a slow service', async () => {
    await using crowd = await startCrowd(60, 600);
    const work = crowd.clients.flatMap((client) => times(25, () => client.createPet(rex)));
    const pets = await crowd.time.passUntil(Promise.all(work));
    expect(new Set(pets.map(({ id }) => id)).size).toBe(1_500);
    expect(crowd.refused()).toBeLessThanOrEqual(60);
  }, 180_000);

  it('meet no refusal where there is but one, whatever it is given to do at once', async () => {
    await using crowd = await startCrowd(1);
    const work = times(1_500, () => crowd.clients[0]!.createPet(rex));
    await crowd.time.passUntil(Promise.all(work));
    expect(crowd.refused()).toBe(0);
  }, 180_000);
});
