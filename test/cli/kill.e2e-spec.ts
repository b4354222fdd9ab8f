import { clearOfMidnight } from '../support/clear-of-midnight.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

// Each starts a dozen processes, which takes its time on a busy machine.
jest.setTimeout(180_000);

describe('petstore serve, killed with SIGKILL', () => {
  let workplace: Workplace;
  beforeEach(clearOfMidnight);
  beforeEach(async () => {
    workplace = new Workplace({ LOG_LEVEL: 'silent', BAN_AFTER_REJECTIONS: '2' });
    await workplace.run('migrate');
  });
  afterEach(() => workplace.remove());

  const issue = (perMinute: number, perDay: number) =>
    workplace.json(
      ...['keys', 'issue', '--name', 'Zoo', '--plan', 'enterprise'],
      ...['--per-minute', String(perMinute), '--per-day', String(perDay)],
    );

  it('forgets no request that was counted more than a second before', async () => {
    const { id, key } = await issue(1_000, 1_000);
    const first = await workplace.serve();
    const client = new Client(first.origin, key);
    for (let request = 0; request < 40; request++) await client.get('/v1/pets');
    await pause(1_000);
    await first.stop('SIGKILL');

    expect((await workplace.json('keys', 'usage', id)).day.used).toBe(40);
    const second = await workplace.serve();
    const { headers } = await new Client(second.origin, key).get('/v1/pets');
    expect(headers['ratelimit']).toMatch(/"day";r=959;/);
    await second.stop();
  });

  it('keeps a ban, which the command line then ends in the running server', async () => {
    const { id, key } = await issue(1_000, 1);
    const first = await workplace.serve();
    const client = new Client(first.origin, key);
    for (let request = 0; request < 5; request++) await client.get('/v1/pets');
    expect((await client.get('/v1/pets')).json().code).toBe('key_banned');
    await pause(1_000);
    await first.stop('SIGKILL');

    const second = await workplace.serve();
    const again = new Client(second.origin, key);
    expect((await again.get('/v1/pets')).json().code).toBe('key_banned');
    expect((await workplace.run('keys', 'show', id)).stdout).toMatch(/Status +banned until 20/);
    expect((await workplace.run('keys', 'usage', id)).stdout).toMatch(/Banned until 20/);
    await workplace.json('keys', 'unban', id);
    await eventually(async () => (await again.get('/v1/pets')).json().code !== 'key_banned');
    await second.stop();
  });

  it('keeps what an address has failed at', async () => {
    const first = await workplace.serve({ FAILED_AUTH_PER_DAY: '3' });
    const nobody = new Client(first.origin);
    for (let request = 0; request < 3; request++) {
      expect((await nobody.get('/v1/pets')).status).toBe(401);
    }
    await pause(1_000);
    await first.stop('SIGKILL');

    const second = await workplace.serve({ FAILED_AUTH_PER_DAY: '3' });
    expect((await new Client(second.origin).get('/v1/pets')).status).toBe(429);
    await second.stop();
  });

  it('counts old and new key of a rotated client together, over kill and restart', async () => {
    const { id, key } = await issue(1_000, 10);
    const rotated = await workplace.json('keys', 'rotate', id, '--grace', '1h');
    const first = await workplace.serve();
    for (const each of [key, rotated.key, key])
      await new Client(first.origin, each).get('/v1/pets');
    await pause(1_000);
    await first.stop('SIGKILL');

    const second = await workplace.serve();
    const answer = await new Client(second.origin, rotated.key).get('/v1/pets');
    expect(answer.headers['x-ratelimit-remaining']).toBe('6');
    for (const each of [id, rotated.id]) {
      await eventually(async () => (await workplace.json('keys', 'usage', each)).day.used === 4);
    }
    await second.stop();
  });

  it('refuses a key at the end of its grace, and had written down its last use', async () => {
    const server = await workplace.serve();
    const { id, key } = await issue(1_000, 1_000);
    const client = new Client(server.origin, key);
    expect((await client.get('/v1/pets')).status).toBe(200);
    await workplace.json('keys', 'rotate', id, '--grace', '2s');
    const { expiresAt } = await workplace.json('keys', 'show', id);
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    await server.stop();
    const { lastUsedAt } = await workplace.json('keys', 'show', id);
    expect(Date.parse(lastUsedAt)).toBeLessThan(Date.parse(expiresAt));
  });

  it.each([
    [['keys', 'issue', '--plan', 'free', '--json'], 2],
    [['keys', 'rotate', 'x', '--grace', '1w', '--json'], 2],
    [['keys', 'show', 'key_nobody', '--json'], 1],
    [['nope'], 2],
  ])('says in one line what is wrong with %j, and exits %i', async (argv, exit) => {
    const { code, stdout, stderr } = await workplace.run(...argv);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
  });
});
