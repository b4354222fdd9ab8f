import { type OwnPlans, Plans } from './plan.js';

const limits = { perMinute: 5, perDay: 50 };

describe(Plans.name, () => {
  it('has further plans, and other limits of the plans of the service', () => {
    const plans = new Plans({ team: limits, free: { perMinute: 6, perDay: 60 } });
    expect(plans.names).toEqual(['free', 'pro', 'business', 'team', 'enterprise']);
    expect(plans.of('team')).toEqual(limits);
    expect(plans.of('free')).toEqual({ perMinute: 6, perDay: 60 });
    expect(plans.of('pro')).toEqual({ perMinute: 300, perDay: 10_000 });
    for (const name of ['enterprise', 'gone', 'toString']) expect(plans.of(name)).toBeUndefined();
  });

  it.each(['enterprise', 'Team', '1st', 'a b', '', '__proto__x', 'a'.repeat(65)])(
    'rejects the name %p',
    (name) => expect(() => new Plans({ [name]: limits })).toThrow(/^plan "/),
  );

  it.each([
    [{ perMinute: 0, perDay: 5 }],
    [{ perMinute: 1.5, perDay: 5 }],
    [{ perMinute: 5 }],
    [{ perMinute: '5', perDay: 5 }],
    [undefined],
  ])('rejects the limits %p', (wrong) => {
    const own = { team: wrong } as unknown as OwnPlans;
    expect(() => new Plans(own)).toThrow('plan team must have positive integers');
  });
});
