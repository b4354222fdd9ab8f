import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AnyScope, RequireScope, ScopeGuard } from './scope.guard.js';

class Orders {
  @RequireScope('orders:read', 'orders:write') move(): void {}
  @AnyScope() list(): void {}
}

describe(ScopeGuard.name, () => {
  const guard = new ScopeGuard(new Reflector());
  const request = (handler: () => void, ...scopes: string[]) =>
    guard.canActivate({
      getClass: () => Orders,
      getHandler: () => handler,
      getArgByIndex: () => ({ caller: { scopes: new Set(scopes) } }),
    } as unknown as ExecutionContext);

  it('requires every scope of an operation', () => {
    const { move } = Orders.prototype;
    expect(request(move, 'orders:write', 'orders:read')).toBe(true);
    for (const held of [['orders:read'], ['orders:write'], []])
      expect(() => request(move, ...held)).toThrow('The API key lacks the scope orders:');
  });

  it('accepts any key where no scope is required', () => {
    expect(request(Orders.prototype.list)).toBe(true);
  });
});
