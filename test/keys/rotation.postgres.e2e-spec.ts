import { KeysService } from '../../src/core/keys/keys.service.js';
import { Client } from '../support/client.js';
import { describeOnPostgres } from '../support/engines.js';
import { startService } from '../support/start-service.js';

const GRACE_MS = 60_000;

describeOnPostgres('two nodes', () => {
  it('never take a used key for an unused one', async () => {
    await using one = await startService();
    await using two = await startService({ env: { DATABASE_URL: one.config.databaseUrl } });
    const keys = two.store.app.get(KeysService);
    const status = async (key: string) =>
      (await new Client(one.origin, key).get('/v1/pets')).status;
    const outcomes = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const old = await one.client();
      const { key } = await keys.rotate(old.keyId!, GRACE_MS);
      const use = status(key);
      // The first use wins some of the races, and the rotation others.
      await new Promise((resume) => setTimeout(resume, round % 6));
      const again = keys.rotate(old.keyId!, GRACE_MS).then(
        (rotated) => rotated.key,
        ({ code }: { code: string }) => code,
      );
      const [used, rotated] = await Promise.all([use, again]);
      const isReplaced = rotated.startsWith('psk_');
      outcomes.add(`${used} ${isReplaced ? 'rotated' : rotated}`);
      expect(await status(key)).toBe(isReplaced ? 401 : 200);
    }
    for (const outcome of outcomes) {
      expect(['200 key_already_rotated', '401 rotated']).toContain(outcome);
    }
  });
});
