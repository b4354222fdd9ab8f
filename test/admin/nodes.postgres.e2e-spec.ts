import { startAdminService, type AdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
import { describeOnPostgres } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { jsonInProcess } from '../support/run-program.js';

const KEYS = '/admin/v1/keys';

describeOnPostgres('the admin API of two nodes', () => {
  let one: AdminService;
  let two: AdminService;
  beforeAll(async () => {
    one = await startAdminService();
    two = await startAdminService({ env: { DATABASE_URL: one.service.config.databaseUrl } });
  });
  afterAll(async () => {
    await two?.service.close();
    await one?.service.close();
  });

  /** The status of a request with this key to the other node. */
  const statusOf = async (key: string) =>
    (await new Client(two.service.origin, key).get('/v1/pets')).status;

  const becomes = (status: number, key: string) =>
    eventually(async () => (await statusOf(key)) === status);

  it('applies a change of one node on the other', async () => {
    const { id, key } = (await one.admin.post(KEYS, { name: 'Zoo', plan: 'free' })).json();
    expect(await statusOf(key)).toBe(200);
    await one.admin.post(`${KEYS}/${id}`, { disabled: true }, {}, 'PATCH');
    await becomes(401, key);
    await one.admin.post(`${KEYS}/${id}`, { disabled: false }, {}, 'PATCH');
    await becomes(200, key);
    for (const [allowedFrom, status] of [
      [['203.0.113.0/24'], 403],
      [['127.0.0.1'], 200],
    ] as const) {
      await one.admin.post(`${KEYS}/${id}`, { allowedFrom }, {}, 'PATCH');
      await becomes(status, key);
    }
    await one.admin.post(`${KEYS}/${id}/revoke`, {});
    await becomes(401, key);
    const records = (await two.admin.get(`/admin/v1/audit?key=${id}`)).json();
    expect(records.map(({ action }: { action: string }) => action)).toEqual([
      'key.revoke',
      'key.set_from',
      'key.set_from',
      'key.enable',
      'key.disable',
      'key.issue',
    ]);
  });

  it('accepts a token on both nodes until it is revoked', async () => {
    const petstore = (...argv: string[]) =>
      jsonInProcess(one.service.config.databaseUrl, 'admin', ...argv);
    const { id, token } = await petstore('issue', '--name', 'bob');
    const nodes = [one, two].map(({ origin }) => new Client(origin, token));
    for (const node of nodes) expect((await node.get(KEYS)).status).toBe(200);
    await petstore('revoke', id);
    for (const node of nodes) expect((await node.get(KEYS)).status).toBe(401);
  });
});
