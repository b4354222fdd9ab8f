export interface WindowState {
  limit: number;
  remaining: number;
}

/** What an answer says of the quota. */
export interface RateLimitState extends WindowState {
  /** When the window of `limit` and `remaining` begins anew, by the service's clock. */
  resetAt: Date;
  minute: WindowState;
  day: WindowState;
}

/** The quota as an answer tells it, with what is only of use between the headers and the gate. */
export interface RateLimitReading {
  state: RateLimitState;
  /** Seconds until each window begins anew: a span, since the clock here may be another. */
  minuteSeconds: number;
  daySeconds: number;
}

/** undefined where the answer says nothing, as one of a proxy on the way. */
export function readRateLimit(headers: Headers, nowUnixMs: number): RateLimitReading | undefined {
  const limit = integerOf(headers, 'x-ratelimit-limit');
  const remaining = integerOf(headers, 'x-ratelimit-remaining');
  const resetUnix = integerOf(headers, 'x-ratelimit-reset');
  if (limit === undefined || remaining === undefined || resetUnix === undefined) return undefined;

  const policies = readItems(headers.get('ratelimit-policy'));
  const windows = readItems(headers.get('ratelimit'));
  const secondsToReset = Math.max(1, Math.ceil(resetUnix - nowUnixMs / 1000));
  const windowOf = (name: string) => ({
    limit: policies.get(name)?.get('q') ?? limit,
    // The draft has called them r and t, and may call them a and w.
    remaining: windows.get(name)?.get('r') ?? windows.get(name)?.get('a') ?? remaining,
  });
  const secondsOf = (name: string) =>
    windows.get(name)?.get('t') ?? windows.get(name)?.get('w') ?? secondsToReset;
  return {
    state: {
      limit,
      remaining,
      resetAt: new Date(resetUnix * 1000),
      minute: windowOf('minute'),
      day: windowOf('day'),
    },
    minuteSeconds: secondsOf('minute'),
    daySeconds: secondsOf('day'),
  };
}

function integerOf(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The numbers of a list of structured fields (RFC 9651): `"minute";r=42;t=17,"day";r=910;t=40211`. */
function readItems(field: string | null): Map<string, Map<string, number>> {
  const items = new Map<string, Map<string, number>>();
  for (const item of field?.split(',') ?? []) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const numbers = parameters.map((parameter): [string, number] => {
      const [key = '', value] = parameter.split('=');
      return [key, Number(value)];
    });
    items.set(
      name.replace(/^"|"$/g, ''),
      new Map(numbers.filter(([, value]) => Number.isFinite(value))),
    );
  }
  return items;
}
