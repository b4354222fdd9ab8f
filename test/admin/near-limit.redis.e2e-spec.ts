import { type AdminService, startAdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeOnPostgres, describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis.js';

describeWith('redis', 'the clients near a limit, with counters in Redis', (program) => {
  describeOnPostgres('of two nodes', () => {
    const keep = closedAtEnd();
    let nodes: readonly [AdminService, AdminService];
    beforeAll(async () => {
      const server = keep(await RedisServer.start(program));
      const one = await startAdminService({ env: { REDIS_URL: server.url } });
      const { databaseUrl: DATABASE_URL } = one.service.config;
      nodes = [one, await startAdminService({ env: { REDIS_URL: server.url, DATABASE_URL } })];
    });
    afterAll(async () => {
      for (const { service } of [...(nodes ?? [])].reverse()) await service.close();
    });

    it('are listed by each node with the requests to both', async () => {
      const [one, two] = nodes;
      const terms = { name: 'Zoo', plan: 'enterprise', perMinute: 1_000, perDay: 100 };
      const { id, key } = (await one.admin.post('/admin/v1/keys', terms)).json();
      const clients = [one, two].map(({ service }) => new Client(service.origin, key));
      for (let requests = 0; requests < 45; requests++) {
        for (const client of clients) expect((await client.get('/v1/pets')).status).toBe(200);
      }
      const listed = { keyId: id, clientId: id, name: 'Zoo', plan: 'enterprise' };
      const expected = [{ ...listed, window: 'day', used: 90, limit: 100 }];
      for (const { admin } of nodes) {
        const nearLimit = async () => (await admin.get('/admin/v1/usage')).json().nearLimit;
        await eventually(async () => JSON.stringify(await nearLimit()).includes('"used":90'));
        expect(await nearLimit()).toEqual(expected);
      }
    });
  });
});
