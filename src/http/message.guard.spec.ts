import type { ExecutionContext } from '@nestjs/common';
import { MessageGuard } from './message.guard.js';

describe(MessageGuard.name, () => {
  const check = (length: number) => {
    const request = { originalUrl: `/${'a'.repeat(length - 1)}` };
    const context = { getArgByIndex: () => request } as unknown as ExecutionContext;
    return () => new MessageGuard().canActivate(context);
  };

  it('accepts a target of 8,000 characters and no longer', () => {
    expect(check(8_000)()).toBe(true);
    expect(check(8_001)).toThrow(expect.objectContaining({ code: 'uri_too_long' }) as Error);
  });
});
