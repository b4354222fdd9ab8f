import { userInfo } from 'node:os';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

// It starts a dozen processes, which takes its time on a busy machine.
jest.setTimeout(180_000);

describe('petstore keys audit', () => {
  it('tells what the command line and the server did to keys, and so does the log, without a key', async () => {
    using workplace = new Workplace();
    const server = await workplace.serve({ LOG_FORMAT: 'json', BAN_AFTER_REJECTIONS: '1' });
    const own = ['--per-minute', '1', '--per-day', '9'];
    const zoo = await workplace.json(
      'keys',
      'issue',
      '--name',
      'Zoo',
      '--plan',
      'enterprise',
      ...own,
    );
    const headers = { authorization: `Bearer ${zoo.key}` };
    for (let request = 0; request < 3; request++) {
      await fetch(`${server.origin}/v1/pets`, { headers });
    }
    const ark = await workplace.json('keys', 'issue', '--name', 'Ark', '--plan', 'free');
    await workplace.json('keys', 'set-plan', ark.id, '--plan', 'pro');

    const actor = { type: 'cli', name: `cli:${userInfo().username}` };
    const [ofArk, all, one, told, unknown, wrong] = await Promise.all([
      workplace.json('keys', 'audit', ark.id),
      workplace.json('keys', 'audit'),
      workplace.json('keys', 'audit', '--limit', '1'),
      workplace.run('keys', 'audit', ark.id),
      workplace.run('keys', 'audit', 'key_unknown'),
      workplace.run('keys', 'audit', '--limit', '0'),
    ]);
    expect(ofArk).toMatchObject([
      {
        action: 'key.set_plan',
        actor,
        target: ark.id,
        address: null,
        requestId: null,
        before: { plan: 'free' },
        after: { plan: 'pro' },
      },
      { action: 'key.issue', actor, before: null, after: { name: 'Ark', plan: 'free' } },
    ]);
    expect(Object.keys(ofArk[0])).toEqual(
      'id at action actor target address requestId before after'.split(' '),
    );
    expect(all.map(({ action }: { action: string }) => action)).toEqual([
      'key.set_plan',
      'key.issue',
      'key.ban',
      'key.issue',
      'key.issue',
    ]);
    expect(one).toEqual([all[0]]);
    expect(told.stdout).toContain('plan: free -> pro, perMinute: 60 -> 300');
    expect([unknown.code, wrong.code]).toEqual([1, 2]);

    const usage = await workplace.json('keys', 'usage', zoo.id);
    expect(usage.outcomes).toHaveLength(3);
    expect(usage.hours.length).toBeGreaterThan(0);
    const refusal = { at: expect.any(String), operation: 'listPets', address: '127.0.0.1' };
    expect(usage.refusals).toEqual([
      { ...refusal, code: 'key_banned' },
      { ...refusal, code: 'rate_limit_exceeded' },
    ]);
    await eventually(() => Promise.resolve(server.output().includes(ofArk[0].id)));
    expect(server.output()).toContain(`Banned the key ${zoo.id} (plan enterprise) for 300 s`);
    expect(server.output() + JSON.stringify(all)).not.toContain(zoo.key);
    expect(await server.stop()).toBe(0);
  });
});
