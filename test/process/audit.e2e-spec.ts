import { userInfo } from 'node:os';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';
import { jsonInProcess } from '../support/run-program.js';

jest.setTimeout(60_000);

describe('petstore keys audit', () => {
  it('lists the changes of the command line and the bans of the server, without secrets', async () => {
    using workplace = new Workplace();
    const run = (...argv: string[]) => jsonInProcess(`sqlite:${workplace.databaseFile}`, ...argv);
    const server = await workplace.serve({ LOG_FORMAT: 'json', BAN_AFTER_REJECTIONS: '1' });
    const limits = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '9'];
    const zoo = await run('keys', 'issue', '--name', 'Zoo', ...limits);
    const headers = { authorization: `Bearer ${zoo.key}` };
    for (let request = 0; request < 3; request++) {
      await fetch(`${server.origin}/v1/pets`, { headers });
    }
    const ark = await run('keys', 'issue', '--name', 'Ark', '--plan', 'free');
    await run('keys', 'set-plan', ark.id, '--plan', 'pro');

    const actor = { type: 'cli', name: `cli:${userInfo().username}` };
    const ofArk = await run('keys', 'audit', ark.id);
    expect(ofArk).toMatchObject([
      {
        ...{ action: 'key.set_plan', actor, target: ark.id, address: null, requestId: null },
        ...{ before: { plan: 'free' }, after: { plan: 'pro' } },
      },
      { action: 'key.issue', actor, before: null, after: { name: 'Ark', plan: 'free' } },
    ]);
    expect(Object.keys(ofArk[0])).toEqual(
      'id at action actor target address requestId before after'.split(' '),
    );
    const all = await run('keys', 'audit');
    const actions = all.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['key.set_plan', 'key.issue', 'key.ban', 'key.issue', 'key.issue']);
    expect(await run('keys', 'audit', '--limit', '1')).toEqual([all[0]]);

    const usage = () => run('keys', 'usage', zoo.id);
    await eventually(async () => (await usage()).outcomes.length === 3, 15_000);
    const refusal = { at: expect.any(String), operation: 'listPets', address: '127.0.0.1' };
    const { refusals } = await usage();
    expect(refusals).toEqual([
      { ...refusal, code: 'key_banned' },
      { ...refusal, code: 'rate_limit_exceeded' },
    ]);
    const log = server.output();
    expect(log).toContain(zoo.id);
    expect(log + JSON.stringify(all)).not.toContain(zoo.key);
    expect(await server.stop()).toBe(0);
  });
});
