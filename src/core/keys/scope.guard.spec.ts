import type { ExecutionContext } from '@nestjs/common';
import { AnyScope, RequireScope, ScopeGuard } from './scope.guard.js';

class Orders {
  @RequireScope('orders:read', 'orders:write') move(): void {}
  @AnyScope() list(): void {}
}

describe(ScopeGuard.name, () => {
  const guard = new ScopeGuard();
  const activate = (handler: () => void, caller?: object) =>
    guard.canActivate({
      getClass: () => Orders,
      getHandler: () => handler,
      getArgByIndex: () => ({ caller }),
    } as unknown as ExecutionContext);
  const request = (handler: () => void, ...scopes: string[]) =>
    activate(handler, { scopes: new Set(scopes) });

  it('requires every scope of an operation', () => {
    const { move } = Orders.prototype;
    expect(request(move, 'orders:write', 'orders:read')).toBe(true);
    for (const held of [['orders:read'], ['orders:write'], []])
      expect(() => request(move, ...held)).toThrow('The API key lacks the scope orders:');
  });

  it('rejects a request without a caller where a scope is required', () => {
    expect(() => activate(Orders.prototype.move)).toThrow(
      expect.objectContaining({ code: 'insufficient_scope' }),
    );
  });

  it('accepts any key where no scope is required', () => {
    expect(request(Orders.prototype.list)).toBe(true);
  });
});
