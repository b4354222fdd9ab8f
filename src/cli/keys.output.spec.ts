import type { AuditRecord } from '../core/keys/audit-record.entity.js';
import { audit, usage, type UsageView } from './keys.output.js';

describe(usage.name, () => {
  it('prints a group of rejected requests in one row, with count, times, window and key', () => {
    const window = { used: 60, limit: 60, remaining: 0, resetAt: '2030-01-02T03:05:00.000Z' };
    const group = {
      at: '2030-01-02T03:04:05.678Z',
      firstAt: '2030-01-02T03:04:01.000Z',
      count: 10,
      code: 'rate_limit_exceeded',
      window: 'minute' as const,
      operation: 'listPets',
      address: '192.0.2.7',
      keyId: 'key_2',
    };
    const view = { id: 'key_1', minute: window, day: window, outcomes: {}, rejected: [group] };
    const [last, head] = usage(view as object as UsageView)
      .split('\n')
      .reverse();
    expect(head!.split(/ {2,}/)).toEqual([
      'LAST REJECTED',
      'FIRST',
      'COUNT',
      'CODE',
      'WINDOW',
      'OPERATION',
      'ADDRESS',
      'KEY',
    ]);
    expect(last!.split(/ {2,}/)).toEqual([
      '2030-01-02T03:04:05Z',
      '2030-01-02T03:04:01Z',
      '10',
      'rate_limit_exceeded',
      'minute',
      'listPets',
      '192.0.2.7',
      'key_2',
    ]);
  });
});

describe(audit.name, () => {
  it.each([
    ['key', 'key_1', 'key:key_1'],
    ['cli', 'cli:ada', 'cli:ada'],
    ['admin', 'admin:Ann', 'admin:Ann'],
    ['service', 'service', 'service'],
  ])('prints an actor of the type %s with the name %s as %s', (type, name, printed) => {
    const change = { at: '2030-01-02T03:04:05.000Z', action: 'key.revoke', target: 'key_1' };
    const record = { ...change, actor: { type, name }, before: null, after: {} };
    const [, row] = audit([record as object as AuditRecord]).split('\n');
    expect(row!.split(/ {2,}/)[2]).toBe(printed);
  });
});
