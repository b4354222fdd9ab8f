import { saveUsage } from '../support/background.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { runInProcess } from '../support/run-program.js';
import { useService } from '../support/start-service.js';

const HOUR_MS = 3_600_000;
const ALLOWED = { 'x-forwarded-for': '203.0.113.7' };
const iso = (ms: number) => new Date(ms).toISOString();

describe('petstore usage export', () => {
  const environment = { ...process.env };
  const firstMs = (Math.floor(Date.now() / HOUR_MS) - 5) * HOUR_MS;
  const clock = new FakeClock(firstMs);
  const { service, client } = useService(
    { clock, env: { TRUST_PROXY: '127.0.0.1', BAN_AFTER_REJECTIONS: '0' } },
    { plan: 'free', scopes: ['pets:read'], allowedFrom: ['203.0.113.7'] },
  );
  let rows: string[];
  const exported = async (...argv: string[]) => {
    process.env['DATABASE_URL'] = service.config.databaseUrl;
    return runInProcess('usage', 'export', ...argv);
  };
  const range = (from: number, to: number) => ['--from', iso(from), '--to', iso(to)];

  beforeAll(async () => {
    const petstore = async (...argv: string[]) => {
      process.env['DATABASE_URL'] = service.config.databaseUrl;
      expect((await runInProcess(...argv)).code).toBe(0);
    };
    for (let request = 0; request < 63; request++) await client.get('/v1/pets', ALLOWED);
    clock.advance(HOUR_MS);
    for (const path of ['/v1/pets', '/v1/pets/7', '/v1/nope']) await client.get(path, ALLOWED);
    await client.post('/v1/pets', { name: 'Rex', categoryId: 1 }, ALLOWED);
    // Consumes no quota, and is not rejected by the plan either.
    await client.get('/v1/pets');
    await petstore('keys', 'set-plan', client.keyId!, '--plan', 'pro');
    await eventually(async () => (await client.get('/v1/usage', ALLOWED)).json().plan === 'pro');
    await client.get('/v1/pets', ALLOWED);
    await client.get('/v1/pets', ALLOWED);
    await saveUsage(service);
    const row = (hour: number, plan: string, operation: string, admitted: number, rejected = 0) =>
      [client.keyId, plan, iso(firstMs + hour * HOUR_MS), operation, admitted, rejected].join();
    rows = [
      row(0, 'free', 'listPets', 60, 3),
      row(1, 'free', 'createPet', 1),
      row(1, 'free', 'getPet', 1),
      row(1, 'free', 'listPets', 1),
      row(1, 'free', 'unknown', 1),
      row(1, 'pro', 'listPets', 2),
    ];
  });
  afterAll(() => {
    process.env = environment;
  });

  it('prints admitted and rejected requests by client, plan, UTC hour and operation', async () => {
    const { code, out, err } = await exported(
      ...range(firstMs, Date.now() + 24 * HOUR_MS - (Date.now() % HOUR_MS)),
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(head).toBe('client,plan,hour,operation,admitted,rejected');
    expect(lines.filter((line) => !line.includes(',getUsage,'))).toEqual(rows);
  });

  it('includes --from and not --to', async () => {
    const head = 'client,plan,hour,operation,admitted,rejected\n';
    const of = async (from: number, to: number) =>
      (await exported(...range(firstMs + from * HOUR_MS, firstMs + to * HOUR_MS))).out;
    expect(await of(0, 1)).toBe(`${head}${rows[0]}\n`);
    expect(await of(-1, 0)).toBe(head);
    expect(await of(2, 3)).toBe(head);
  });

  it('prints NDJSON, and with --json one value', async () => {
    const row = {
      client: client.keyId,
      ...{ plan: 'free', hour: iso(firstMs), operation: 'listPets', admitted: 60, rejected: 3 },
    };
    const hour = range(firstMs, firstMs + HOUR_MS);
    const { out } = await exported(...hour, '--format', 'ndjson');
    expect(out).toBe(`${JSON.stringify(row)}\n`);
    expect(JSON.parse((await exported(...hour, '--json')).out)).toEqual([row]);
    const none = range(firstMs - HOUR_MS, firstMs);
    expect((await exported(...none, '--format', 'ndjson')).out).toBe('');
    expect((await exported(...none, '--json')).out).toBe('[]\n');
  });

  it('says that older usage is not kept', async () => {
    const { code, err } = await exported('--from', '2020-01-01', '--to', '2020-01-02');
    expect(code).toBe(0);
    expect(err).toMatch(/^Usage before 20\S+:00:00.000Z is not kept\.\n$/);
  });
});
