export interface WindowState {
  limit: number;
  remaining: number;
}

/** The quota as of the latest response. */
export interface RateLimitState extends WindowState {
  /** End of the window that `limit` and `remaining` describe, by the clock of the service. */
  resetAt: Date;
  minute: WindowState;
  day: WindowState;
}

/** The rate-limit headers of one response. */
export interface RateLimitReading {
  state: RateLimitState;
  /** Seconds until the window ends. A duration does not depend on the clock of the caller. */
  minuteSeconds: number;
  daySeconds: number;
}

/** @returns undefined if the response has no rate-limit headers, for example that of a proxy. */
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
    // draft-ietf-httpapi-ratelimit-headers names the parameters r and t, and may rename them to a
    // and w.
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

/**
 * Reads the numeric parameters of a structured-field list (RFC 9651):
 * `"minute";r=42;t=17,"day";r=910;t=40211`.
 */
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
