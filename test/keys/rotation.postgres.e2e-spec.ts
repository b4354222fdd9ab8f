import { startAdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeOnPostgres } from '../support/engines.js';
import { startService } from '../support/start-service.js';

describeOnPostgres('two nodes', () => {
  const keep = closedAtEnd();

  it('never take a used key for an unused one', async () => {
    await using one = await startService();
    const two = await startAdminService({ env: { DATABASE_URL: one.config.databaseUrl } });
    keep(two.service);
    const rotate = async (id: string) =>
      (await two.admin.post(`/admin/v1/keys/${id}/rotate`, { graceSeconds: 60 })).json();
    const status = async (key: string) =>
      (await new Client(one.origin, key).get('/v1/pets')).status;
    const outcomes = new Set<string>();
    for (let round = 0; round < 30; round++) {
      const old = await one.client();
      const { key } = await rotate(old.keyId!);
      const use = status(key);
      // The first use wins some of the races, and the rotation others.
      await new Promise((resume) => setTimeout(resume, round % 6));
      const [used, rotated] = await Promise.all([use, rotate(old.keyId!)]);
      const isReplaced = rotated.key !== undefined;
      outcomes.add(`${used} ${isReplaced ? 'rotated' : rotated.code}`);
      expect(await status(key)).toBe(isReplaced ? 401 : 200);
    }
    for (const outcome of outcomes) {
      expect(['200 key_already_rotated', '401 rotated']).toContain(outcome);
    }
  });
});
