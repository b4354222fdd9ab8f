import { execFileSync } from 'node:child_process';
import { curesOf } from './cures.js';
import type { UsageView } from './key-views.js';

const room = { limit: 60, used: 1, remaining: 59, resetAt: '2030-01-01T00:00:00.000Z' };
const full = { ...room, used: 60, remaining: 0 };
const zoo: UsageView = {
  ...{ id: 'key_zoo', name: 'Zoo', plan: 'free', scopes: ['pets:read', 'pets:write'] },
  ...{ perMinute: 60, perDay: 1_000, last4: 'abcd', createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ expiresAt: null, revokedAt: null, lastUsedAt: null, bannedUntil: null },
  ...{ clientId: 'key_zoo', replacedBy: null, minute: room, day: room, hours: [] },
  ...{ outcomes: [], refusals: [] },
};
const limited = (...operations: string[]): Partial<UsageView> => ({
  outcomes: [{ code: 'rate_limit_exceeded', status: 429, requests: 20 }],
  refusals: operations.map((operation) => {
    const at = '2026-01-01T00:00:00.000Z';
    return { at, code: 'rate_limit_exceeded', operation, address: '192.0.2.1' };
  }),
});

describe(curesOf.name, () => {
  it('has none for a key that is well', () => expect(curesOf(zoo)).toEqual([]));

  it.each(['minute', 'day'])('offers another plan where the %s of the plan is full', (window) => {
    const cures = curesOf({ ...zoo, ...limited('getUsage', 'listPets'), [window]: full });
    expect(cures).toEqual([
      'It asks for more than its plan allows: petstore keys set-plan key_zoo --plan PLAN',
    ]);
  });

  it('offers no plan to who asked for its usage too often', () => {
    const [cure, ...more] = curesOf({ ...zoo, ...limited('getUsage', 'getUsage') });
    expect(cure).toMatch(/asks too often for its usage/);
    expect([cure, more].join()).not.toContain('set-plan');
  });

  it.each([[['listPets', 'getUsage']], [[]]])(
    'says that the plan may not be why where that cannot be told: %j',
    (operations) => {
      expect(curesOf({ ...zoo, ...limited(...operations) })).toEqual([
        expect.stringMatching(
          /^It was refused by a limit, and has something left.* where it asks for more than its plan allows: petstore keys set-plan/,
        ),
      ]);
    },
  );

  it('offers a key that may do the same, by a command that runs nothing else', () => {
    const name = `$(echo no) "x" \`echo no\` O'Neill'; echo no #`;
    const own = { plan: 'enterprise', perMinute: 7, perDay: 99, scopes: ['pets:read'] } as const;
    const revokedAt = '2026-01-02T00:00:00.000Z';
    const [cure] = curesOf({ ...zoo, ...own, scopes: ['pets:read', 'x:y'], name, revokedAt });
    const command = cure!.slice(cure!.indexOf('petstore keys issue'));
    const words = execFileSync('sh', ['-c', `petstore() { printf '%s\\n' "$@"; }; ${command}`]);
    expect(words.toString().trimEnd().split('\n')).toEqual([
      ...['keys', 'issue', '--name', name, '--plan', 'enterprise', '--per-minute', '7'],
      ...['--per-day', '99', '--scopes', 'pets:read,x:y'],
    ]);
    expect(curesOf({ ...zoo, revokedAt })[0]).toMatch(
      /: petstore keys issue --name 'Zoo' --plan free --scopes pets:read,pets:write$/,
    );
  });
});
