import { usage, type UsageView } from './keys.output.js';

describe(usage.name, () => {
  it('prints a group of rejected requests in one row, with count, times, window and key', () => {
    const window = { used: 60, limit: 60, remaining: 0, resetAt: '2030-01-02T03:05:00.000Z' };
    const refusal = {
      at: '2030-01-02T03:04:05.678Z',
      firstAt: '2030-01-02T03:04:01.000Z',
      count: 10,
      code: 'rate_limit_exceeded',
      window: 'minute' as const,
      operation: 'listPets',
      address: '192.0.2.7',
      keyId: 'key_2',
    };
    const view = { id: 'key_1', minute: window, day: window, outcomes: [], refusals: [refusal] };
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
