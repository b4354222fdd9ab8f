import { readFileSync } from 'node:fs';
import { saveLastUses, saveUsage } from '../support/background.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { runInProcess } from '../support/run-program.js';
import { startService } from '../support/start-service.js';

const GUIDE = readFileSync('docs/operating.md', 'utf8');
const [, TABLE] = /### A key has leaked\n[^]*?\n\| -[^\n]*\n([^]*?)\n\n/.exec(GUIDE)!;
const CLIENT = { 'x-forwarded-for': '203.0.113.7' };
const THIEF = { 'x-forwarded-for': '198.51.100.66' };

/** The commands of each step, in their order. */
const STEPS = TABLE!.split('\n').map((row) => {
  const [, step, , commands] = row.split('|').map((cell) => cell.trim());
  return [
    step!,
    Array.from(commands!.matchAll(/`petstore ([^`]+)`/g), ([, each]) => each!),
  ] as const;
});

describe('the drill for a leaked key in docs/operating.md', () => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  it('finds the key, stops the thief, shows its address, and gives the client another key', async () => {
    const clock = new FakeClock(Date.now());
    await using service = await startService({ clock, env: { TRUST_PROXY: '127.0.0.1' } });
    process.env['DATABASE_URL'] = service.config.databaseUrl;
    const leaked = await service.client({ name: 'City zoo', scopes: ['pets:read', 'key:rotate'] });
    const other = await service.client({ name: 'Other' });
    const keyId = leaked.keyId!;
    await leaked.get('/v1/pets', CLIENT);
    // A use is recorded at most once a second.
    clock.advance(2_000);
    const made = (await leaked.post('/v1/key/rotate', {}, THIEF)).json();
    await leaked.get('/v1/pets', THIEF);
    await saveLastUses(service);
    const statusOf = async (client: Client, headers = CLIENT) =>
      (await client.get('/v1/pets', headers)).status;

    let out = '';
    async function step(name: string): Promise<string> {
      const [, commands] = STEPS.find(([each]) => each === name)!;
      expect(commands.length).toBeGreaterThan(0);
      const printed: string[] = [];
      for (const command of commands) {
        const argv = command
          .replace('LAST_FOUR', leaked.key!.slice(-4))
          .replace(/KEY_ID|CLIENT_ID/, keyId)
          .split(' ');
        const { code, err, ...result } = await runInProcess(...argv);
        expect({ command, code, err }).toEqual({
          ...{ command, code: 0 },
          err: expect.not.stringContaining('error'),
        });
        printed.push(result.out);
      }
      return (out = printed.join('\n'));
    }

    await step('Find it');
    expect(out).toContain(keyId);
    expect(out).not.toContain(other.keyId);
    await step('Stop it');
    await eventually(async () => (await statusOf(leaked, THIEF)) === 401);
    await saveUsage(service);
    await step('See who used it');
    expect(out).toMatch(/lastUsedFrom +198\.51\.100\.66/);
    expect(out).toMatch(/invalid_api_key .*198\.51\.100\.66/);
    await step('See who changed it');
    expect(out).toMatch(new RegExp(`key\\.rotate +key:${keyId}`));
    await step('Look for other keys');
    expect(out).toContain(made.id);
    const secret = (await step('Give the client a key')).trim().split('\n').at(-1)!;
    const next = new Client(service.origin, secret);
    expect(await statusOf(next)).toBe(200);
    await eventually(async () => (await statusOf(leaked, THIEF)) === 401);
    // The successor that the thief has made is withdrawn.
    const thief = new Client(service.origin, made.key);
    await eventually(async () => (await statusOf(thief, THIEF)) === 401);
    await step('See that the thief is out');
    expect(out).toMatch(/expiresAt +20/);
    expect(await statusOf(other)).toBe(200);
    for (const client of [next, thief]) client.close();
    expect(STEPS).toHaveLength(7);
  });
});
