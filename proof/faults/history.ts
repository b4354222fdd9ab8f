/** One request, as the client saw it. */
export interface Event {
  node: string;
  kind: 'limited' | 'create' | 'revocable';
  startedMs: number;
  endedMs: number;
  /** Undefined if no response arrived: the request may have been executed. */
  status: number | undefined;
  text: string;
  idempotencyKey?: string;
  /** Since when the node reached PostgreSQL, without interruption during the request. */
  reachesDatabaseSince: number | undefined;
}

/** What a round knows besides its events. */
export interface Facts {
  limit: number;
  /** How often the limit may be admitted: once, or more if nodes counted alone or Redis forgot. */
  timesLimit: number;
  /** Whether the limit was used up at the end, so that a smaller number is a fault as well. */
  isSharedThroughout: boolean;
  isDatabaseDisturbed: boolean;
  /** When the command that revoked the key had ended. */
  revokedMs: number;
  /** How late timers of this process were: the machine was that busy. */
  busyMs: number;
  /** The name of the pet of each Idempotency-Key. */
  names: ReadonlyMap<string, string>;
  /** The text of each pet at the end of the round. */
  pets: readonly string[];
}

const REVOKED_WITHIN_MS = 1_000;

/** The auditors, by the promise that they check. Each returns what contradicts it. */
export const AUDITORS: Readonly<
  Record<string, (events: readonly Event[], facts: Facts) => string[]>
> = {
  'exactly the limit': (events, { limit, timesLimit, isSharedThroughout }) => {
    const limited = events.filter(({ kind }) => kind === 'limited');
    const admitted = limited.filter(({ status }) => status === 200).length;
    const unknown = limited.filter(({ status }) => status !== 200 && status !== 429).length;
    if (admitted > limit * timesLimit) {
      return [`${admitted} requests were admitted, the limit is ${limit} (times ${timesLimit})`];
    }
    if (!isSharedThroughout || admitted + unknown >= limit) return [];
    return [`only ${admitted} and at most ${unknown} more were admitted, the limit is ${limit}`];
  },

  'at most one pet per Idempotency-Key': (_, { names, pets }) => {
    const counts = new Map<string, number>();
    for (const text of pets) {
      const { name } = JSON.parse(text) as { name: string };
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...names]
      .filter(([, name]) => (counts.get(name) ?? 0) > 1)
      .map(([key, name]) => `${counts.get(name)} pets for the Idempotency-Key ${key}`);
  },

  'nothing acknowledged is lost': (events, { pets }) => {
    const kept = new Set(pets);
    return events
      .filter(({ kind, status, text }) => kind === 'create' && status === 201 && !kept.has(text))
      .map(({ node, text }) => `${node} acknowledged ${text}`);
  },

  'revoked within a second': (events, { revokedMs, busyMs }) => {
    const isStale = ({ kind, status, startedMs, reachesDatabaseSince }: Event): boolean => {
      if (kind !== 'revocable' || status !== 200 || reachesDatabaseSince === undefined)
        return false;
      const knownMs = Math.max(revokedMs, reachesDatabaseSince) + REVOKED_WITHIN_MS + busyMs;
      return startedMs > knownMs;
    };
    return events
      .filter(isStale)
      .map(
        ({ node, startedMs }) =>
          `${node} accepted it ${Math.round(startedMs - revokedMs)} ms later`,
      );
  },

  'no request fails because of Redis': (events, { isDatabaseDisturbed }) => {
    if (isDatabaseDisturbed) return [];
    return events
      .filter(({ status }) => status !== undefined && status >= 500)
      .map(({ node, status, text }) => `${node} responded with ${status}: ${text}`);
  },
};
