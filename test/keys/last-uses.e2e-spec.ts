import { saveLastUses } from '../support/background.js';
import { jsonInProcess } from '../support/run-program.js';
import { FakeClock } from '../support/clock.js';
import { startService } from '../support/start-service.js';

describe('the last use of a key', () => {
  it('is saved for each key, and never moves back', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const lastUses = async () => {
      await saveLastUses(service);
      const keys: { id: string; lastUsedAt: string | null }[] = await jsonInProcess(
        service.config.databaseUrl,
        ...['keys', 'list'],
      );
      const timeOf = (iso: string | null) => iso && Date.parse(iso);
      return Object.fromEntries(keys.map(({ id, lastUsedAt }) => [id, timeOf(lastUsedAt)]));
    };
    const [zoo, ark] = [await service.client(), await service.client()];
    const now = clock.now();
    expect(await lastUses()).toEqual({ [zoo.keyId!]: null, [ark.keyId!]: null });
    await zoo.get('/v1/pets');
    expect(await lastUses()).toEqual({ [zoo.keyId!]: now, [ark.keyId!]: null });
    clock.advance(7_000);
    for (const client of [zoo, ark]) await client.get('/v1/pets');
    expect(await lastUses()).toEqual({ [zoo.keyId!]: now + 7_000, [ark.keyId!]: now + 7_000 });
    clock.advance(-5_000);
    await zoo.get('/v1/pets');
    expect(await lastUses()).toMatchObject({ [zoo.keyId!]: now + 7_000 });
  });
});
