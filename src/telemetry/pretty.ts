import type { DestinationStream } from 'pino';

/** What a person at a terminal knows already, or is told in another way. */
const UNSAID = new Set([
  'level',
  'time',
  'service',
  'version',
  'msg',
  'err',
  'event',
  'audit',
  'until',
]);
const OF_A_REQUEST = ['operation', 'keyId', 'address'];
/** Nothing in themselves says what these are. */
const NAMED = { requestId: 'request', traceId: 'trace' };

type Entry = Record<string, unknown>;

/** Readable lines for a terminal, each at once. Loaded on demand: production does not pay for it. */
export async function prettyStream(
  lines: DestinationStream & { flush(): void },
): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    translateTime: 'HH:MM:ss.l',
    hideObject: true,
    messageFormat: (entry) => sentence(entry),
  });
  return {
    write(line: string): void {
      lines.write(pretty(line));
      lines.flush();
    },
  };
}

/** A line as a sentence, with what it is about in words behind; an error's stack is below. */
export function sentence(entry: Entry): string {
  const message = wordOf(entry['msg'] ?? '');
  const text = message === 'request' ? requestSentence(entry) : message + details(entry);
  const { stack, message: reason } = (entry['err'] ?? {}) as { stack?: string; message?: string };
  const why = stack ?? reason;
  return why === undefined ? text : `${text}\n${why.replace(/^/gm, '    ')}`;
}

/** As in an access log: `GET /v1/pets 429 in 0.8 ms rate_limit_exceeded (listPets, key_1, 192.0.2.1, request x)`. */
function requestSentence(entry: Entry): string {
  const { method, path, status, durationMs, code } = entry;
  const words = [method, path, status, 'in', durationMs, 'ms', code].filter(isTold);
  const about = OF_A_REQUEST.map((name) => entry[name])
    .filter(isTold)
    .map(wordOf);
  const named = Object.entries(NAMED)
    .filter(([name]) => isTold(entry[name]))
    .map(([name, what]) => `${what} ${wordOf(entry[name])}`);
  return `${words.map(wordOf).join(' ')} (${[...about, ...named].join(', ')})`;
}

function details(entry: Entry): string {
  const pairs = Object.entries(entry)
    .filter(([name, value]) => !UNSAID.has(name) && isTold(value))
    .map(([name, value]) => `${name}=${wordOf(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

function isTold(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
