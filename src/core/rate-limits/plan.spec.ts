import { assertLimits, type OwnPlans, Plans } from './plan.js';

const limits = { perMinute: 5, perDay: 50 };

describe(Plans.name, () => {
  it('adds plans, and changes limits of the plans of the service', () => {
    const plans = new Plans({ team: limits, free: { perMinute: 6, perDay: 60 } });
    expect(plans.names).toEqual(['free', 'pro', 'business', 'team', 'enterprise']);
    expect(plans.of('team')).toEqual(limits);
    expect(plans.of('free')).toEqual({ perMinute: 6, perDay: 60 });
    expect(plans.of('pro')).toEqual({ perMinute: 300, perDay: 10_000 });
    for (const name of ['enterprise', 'gone', 'toString']) expect(plans.of(name)).toBeUndefined();
  });

  it.each([1, 10 ** 12])('accepts a limit of %s', (limit) => {
    const team = { perMinute: limit, perDay: limit };
    expect(new Plans({ team }).of('team')).toEqual(team);
  });

  it('requires both limits with enterprise, and accepts none with another plan', () => {
    const plans = new Plans();
    const stored = { plan: 'enterprise', ...limits };
    expect(plans.choose('enterprise', limits)).toEqual(stored);
    const none = { perMinute: null, perDay: null };
    expect(plans.choose('free', {})).toEqual({ plan: 'free', ...none });
    expect(plans.choose('free', none)).toEqual({ plan: 'free', ...none });
    for (const some of [{}, { perMinute: 5 }, { perDay: 50 }]) {
      expect(() => plans.choose('enterprise', some)).toThrow('requires --per-minute and --per-day');
    }
    for (const some of [limits, { perMinute: 5 }, { perDay: 50 }]) {
      expect(() => plans.choose('free', some)).toThrow('does not accept --per-minute or --per-day');
    }
    expect(() => plans.choose('gold', limits)).toThrow('plans are free, pro, business, enterprise');
  });

  it('needs no plan for a key with limits of its own', () => {
    const plans = new Plans();
    for (const plan of ['enterprise', 'gone']) {
      expect(() => assertLimits(plans.limitsOf({ plan, ...limits }), plan)).not.toThrow();
    }
    const unknown = plans.limitsOf({ plan: 'gone', perMinute: null, perDay: null });
    expect(() => assertLimits(unknown, 'gone')).toThrow('temporarily unavailable');
  });

  it.each(['enterprise', 'Team', '1st', 'a b', '', '__proto__x', 'a'.repeat(65)])(
    'rejects the name %p',
    (name) => expect(() => new Plans({ [name]: limits })).toThrow(/^plan "[^"]*": its /),
  );

  it.each([
    [{ perMinute: 0, perDay: 5 }],
    [{ perMinute: 1.5, perDay: 5 }],
    [{ perMinute: 10 ** 12 + 1, perDay: 5 }],
    [{ perMinute: 5, perDay: 10 ** 12 + 1 }],
    [{ perMinute: 5 }],
    [{ perMinute: '5', perDay: 5 }],
    [undefined],
  ])('rejects the limits %p', (wrong) => {
    const own = { team: wrong } as unknown as OwnPlans;
    expect(() => new Plans(own)).toThrow(
      /^plan "team": per(?:Minute|Day) must be an integer between 1 and/,
    );
  });
});
