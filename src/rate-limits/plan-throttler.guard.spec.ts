import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { NO_LIMIT, PlanThrottlerGuard } from './plan-throttler.guard.js';

const quota = { subject: 'zoo', limits: { perMinute: 1, perDay: 1 } };

class Orders {
  list(): void {}
  @SkipThrottle() ping(): void {}
  @Throttle({ default: { limit: 2, ttl: 5_000 } }) place(): void {}
}
@SkipThrottle()
class Probes extends Orders {
  @SkipThrottle({ default: false }) costly(): void {}
}

describe(PlanThrottlerGuard.name, () => {
  const admit = jest.fn<true, unknown[]>();
  const report = jest.fn<Promise<void>, unknown[]>();
  const guard = new PlanThrottlerGuard(
    [{ name: 'default', ttl: 60_000, limit: NO_LIMIT }],
    {} as ThrottlerStorage,
    new Reflector(),
  );
  Object.assign(guard, { limiter: { admit, describe: report } });
  beforeAll(() => guard.onModuleInit());
  beforeEach(() => {
    jest.resetAllMocks();
    admit.mockImplementation(() => (hasHeader = true));
  });

  let hasHeader: boolean;
  const reply = { hasHeader: () => hasHeader };
  const request = { quota, operation: 'place' };
  const canActivate = (controller: typeof Orders, handler: () => void, of: object = request) => {
    hasHeader = false;
    return guard.canActivate({
      getArgByIndex: (index: number) => [of, reply][index],
      getClass: () => controller,
      getHandler: () => handler,
    } as unknown as ExecutionContext);
  };

  it('counts a request against the quota of its caller', async () => {
    expect(await canActivate(Orders, Orders.prototype.list)).toBe(true);
    expect(admit).toHaveBeenCalledWith(quota, reply, undefined);
  });

  it('counts against the limit of the operation as well', async () => {
    const further = { operation: 'place', limit: 2, ttlMs: 5_000 };
    for (let request = 1; request <= 2; request++) {
      expect(await canActivate(Orders, Orders.prototype.place)).toBe(true);
      expect(admit).toHaveBeenNthCalledWith(request, quota, reply, further);
    }
  });

  it('counts nothing without a caller', async () => {
    expect(await canActivate(Orders, Orders.prototype.list, {})).toBe(true);
    expect(admit).not.toHaveBeenCalled();
  });

  it.each([
    ['an operation', Orders, Orders.prototype.ping, 0],
    ['all of a controller', Probes, Probes.prototype.list, 0],
    ['no operation that says otherwise', Probes, Probes.prototype.costly, 1],
    ['no operation of a controller that is only a relative', Orders, Orders.prototype.list, 1],
  ])('skips %s with @SkipThrottle()', async (_what, controller, handler, counted) => {
    for (let request = 1; request <= 2; request++) {
      expect(await canActivate(controller, handler)).toBe(true);
      expect(admit).toHaveBeenCalledTimes(counted * request);
      expect(report).toHaveBeenCalledTimes((1 - counted) * request);
    }
  });
});
