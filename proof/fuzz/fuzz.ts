import fc from 'fast-check';
import { type Answer, Client } from '../../test/support/client.js';
import type { Served, Workplace } from '../../test/support/petstore-process.js';
import { workplaceWithTools } from '../../test/support/workplace-with-orders.js';
import { eventually } from '../../test/support/eventually.js';
import { casesOf, inWords, type Part, type Result, type Run } from '../part.js';
import { ToolCallers } from '../tool-callers.js';
import { CHECKS, type Exchange } from './checks.js';
import { Document } from './document.js';
import { DisposableKeys } from './disposable-keys.js';
import { type FuzzRequest, type Keys, Requests } from './requests.js';

/** Multiples of the number of callers. */
const INPUTS = { full: 100_000, short: 400 };
/** At the same time, so that the client and the server each use a core. */
const CALLERS = 8;
/** Callers of an extension that injects requests, beside them. */
const TOOL_CALLERS = 2;
/** A request without a response for this time hangs. */
const MAX_RESPONSE_MS = 20_000;
const ENV = {
  NODE_ENV: 'production',
  LOG_LEVEL: 'error',
  FAILED_AUTH_PER_MINUTE: '1000000',
  FAILED_AUTH_PER_DAY: '1000000000',
};
const AMPLE = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000000'];

const idOf = (text: string): string | undefined => /"id":([^,}]+)/.exec(text)?.[1];

/** Sends requests, and applies every check to the responses. */
class Fuzzer {
  readonly counts: Record<string, number> = Object.fromEntries(
    [
      ...Object.keys(CHECKS),
      'max_response_time',
      'ensure_resource_availability',
      'use_after_free',
      'conditional_request',
    ].map((name) => [name, 0]),
  );
  private readonly client: Client;
  private sent = 0;

  /** @param index of this caller, in the ids of its requests */
  constructor(
    private readonly index: number,
    origin: string,
    private readonly document: Document,
    private readonly keys: Keys,
    private readonly disposable: DisposableKeys,
    private readonly secrets: readonly string[],
  ) {
    this.client = new Client(origin);
  }

  async try(drawn: FuzzRequest): Promise<void> {
    const request = await this.disposable.instead(drawn);
    if (request === undefined) return;
    request.headers = Object.assign({}, request.headers, {
      'x-request-id': `fuzz-${this.index}-${this.sent++}`,
    });
    const answer = await this.send(request);
    this.disposable.keep(answer);
    const exchange = { request, answer, document: this.document, secrets: this.secrets };
    for (const [name, { appliesTo, check }] of Object.entries(CHECKS)) {
      if (!appliesTo(exchange)) continue;
      this.counts[name]!++;
      const fault = check(exchange);
      if (fault !== undefined) throw new Error(`${name}: ${fault}\n${describe(exchange)}`);
    }
    await this.followLinks(exchange);
    await this.useEntityTag(exchange);
    if (request.method === 'DELETE' && answer.status < 300) await this.useAfterFree(exchange);
  }

  close(): void {
    this.client.close();
    this.disposable.close();
  }

  /** What a response offers exists: the created resource, the next page. */
  private async followLinks(exchange: Exchange): Promise<void> {
    const { location, link } = exchange.answer.headers;
    const next = /<([^>]+)>; rel="next"/.exec(String(link ?? ''))?.[1];
    for (const url of [location, next]) {
      if (url === undefined) continue;
      this.counts['ensure_resource_availability']!++;
      const { pathname, search } = new URL(url);
      const answer = await this.get(pathname + search);
      // Another caller may have changed a created resource since.
      const isSame = url !== location || idOf(answer.text) === idOf(exchange.answer.text);
      if (answer.status === 200 && isSame) continue;
      const found = `status ${answer.status} of ${url}: ${answer.text}`;
      throw new Error(`ensure_resource_availability: ${found}\n${describe(exchange)}`);
    }
  }

  /** A client that has the response gets 304, or another one if it has changed since. */
  private async useEntityTag({ request, answer }: Exchange): Promise<void> {
    const { etag } = answer.headers;
    if (etag === undefined || answer.status !== 200 || request.method !== 'GET') return;
    this.counts['conditional_request']!++;
    const headers = Object.assign({}, request.headers, { 'if-none-match': etag });
    const again = await this.client.send(request.target, { headers });
    const hasChanged = again.status < 500 && again.headers.etag !== etag;
    if (again.status === 304 ? again.text === '' : hasChanged) return;
    throw new Error(`conditional_request: ${again.status} for ${etag} of GET ${request.target}`);
  }

  /** What is removed is gone soon; a revocation has a second. */
  private async useAfterFree({ request }: Exchange): Promise<void> {
    this.counts['use_after_free']!++;
    const { target, headers } = request;
    await eventually(async () => {
      const { status } = await this.client.send(target, { headers });
      return [401, 404, 410].includes(status);
    }).catch(() => {
      throw new Error(`use_after_free: ${request.method} ${target} has no effect`);
    });
  }

  private get(target: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.keys.full}` };
    return this.client.send(target, { headers });
  }

  private async send({ method, target, headers, body }: FuzzRequest): Promise<Answer> {
    this.counts['max_response_time']!++;
    const hang = new AbortController();
    const timeout = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new Error(`max_response_time: ${method} ${target} hangs`));
      const timer = setTimeout(fail, MAX_RESPONSE_MS);
      hang.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const call = { method, headers, ...(body !== undefined && { body }) };
    try {
      return await Promise.race([this.client.send(target, call), timeout]);
    } finally {
      hang.abort();
    }
  }
}

function describe({ request, answer }: Exchange): string {
  const { method, target, headers, body, kind, fault = 'none' } = request;
  const sent = [`${method} ${target}`, JSON.stringify(headers), body?.slice(0, 500) ?? ''];
  const got = [`${answer.status} ${JSON.stringify(answer.headers)}`, answer.text.slice(0, 500)];
  return [`case: ${kind}, fault put in: ${fault}`, ...sent, '->', ...got].join('\n  ');
}

interface Issued {
  id: string;
  key: string;
}

async function issue(workplace: Workplace, scopes: readonly string[]): Promise<Issued> {
  const options = [...AMPLE, '--name', 'fuzz', '--scopes', scopes.join()];
  return (await workplace.json('keys', 'issue', ...options)) as Issued;
}

async function issueKey(workplace: Workplace, scopes: readonly string[]): Promise<string> {
  return (await issue(workplace, scopes)).key;
}

async function startToolCallers(workplace: Workplace, origin: string): Promise<ToolCallers> {
  const clients: Client[] = [];
  for (let index = 0; index < TOOL_CALLERS; index++) {
    const { id, key } = await issue(workplace, ['pets:read', 'pets:write']);
    clients.push(new Client(origin, key, id));
  }
  return new ToolCallers(clients);
}

/** Each caller uses keys of its own, so the requests of one key have one caller. */
async function faultsOfAudit(workplace: Workplace): Promise<string[]> {
  const records = (await workplace.json('keys', 'audit', '--limit', '1000')) as {
    actor: { name: string };
    requestId: string | null;
  }[];
  const callers = new Map<string, string>();
  return records.flatMap(({ actor: { name }, requestId }) => {
    const [, caller] = /^fuzz-(\d+)-/.exec(requestId ?? '') ?? [];
    if (caller === undefined) return [];
    const known = callers.get(name) ?? caller;
    callers.set(name, known);
    return known === caller ? [] : [`a change of ${name} has the request id ${requestId}`];
  });
}

async function issueKeys(workplace: Workplace, scopes: readonly string[]): Promise<Keys> {
  const without: Record<string, string> = {};
  for (const scope of scopes) {
    const others = scopes.filter((each) => each !== scope);
    without[scope] = await issueKey(workplace, others);
  }
  return { full: await issueKey(workplace, scopes), without };
}

async function readDocument({ origin }: Served): Promise<Document> {
  const answer = await fetch(`${origin}/openapi.json`);
  return new Document((await answer.json()) as object);
}

/** Sums of the counts of each check. */
function sumOf(fuzzers: readonly Fuzzer[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { counts } of fuzzers) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

async function run(run: Run): Promise<Result> {
  using workplace = workplaceWithTools(ENV);
  await workplace.run('seed', '--pets', '200');
  const server = await workplace.serve();
  const document = await readDocument(server);
  const scopes = [...new Set(document.operations.flatMap((each) => each.scopes))];
  const keys = await issueKeys(workplace, scopes);
  const secrets = [keys.full, ...Object.values(keys.without), workplace.directory, process.cwd()];
  const [only, path] = run.path?.split('/') ?? [];
  const inputs = (run.isShort ? INPUTS.short : INPUTS.full) / CALLERS;
  const check = async (index: number) => {
    const disposable = new DisposableKeys(server.origin, await issueKey(workplace, scopes));
    const fuzzer = new Fuzzer(index, server.origin, document, keys, disposable, secrets);
    const requests = new Requests(document, keys).any();
    const property = fc.asyncProperty(requests, (request) => fuzzer.try(request));
    const own = Object.assign({}, run, { seed: run.seed + index, path });
    const details = await fc.check(property, casesOf(own, inputs));
    fuzzer.close();
    return { index, fuzzer, details };
  };
  const callers = Array.from({ length: CALLERS }, (_, index) => index);
  const chosen = callers.filter((index) => only === undefined || index === Number(only));
  const toolCallers = await startToolCallers(workplace, server.origin);
  const ended = await Promise.all(chosen.map(check));
  const toolFaults = await toolCallers.stop();
  const exitCode = await server.stop();
  const failed = ended.filter(({ details }) => details.failed);
  const faults = failed.map(({ details }) => (details.errorInstance as Error).message);
  faults.push(...toolFaults, ...(await faultsOfAudit(workplace)));
  if (exitCode !== 0) faults.push(`the server ended with ${exitCode}`);
  if (server.output() !== '') faults.push(`the server logged errors: ${server.output()}`);
  const tried = ended.reduce((sum, { details }) => sum + details.numRuns, 0);
  const [first] = failed;
  return {
    tried: `${inWords(tried)} requests to ${document.operations.length} operations`,
    figures: Object.assign(sumOf(ended.map(({ fuzzer }) => fuzzer)), {
      injected_requests: toolCallers.calls,
    }),
    faults,
    ...(first !== undefined && { path: `${first.index}/${first.details.counterexamplePath}` }),
  };
}

export const fuzz: Part = {
  name: 'fuzz',
  tries:
    'valid and invalid requests, generated from `openapi.json` of a server with the extension store-orders, beside callers of an extension that injects requests',
  holds:
    'the checks of [Schemathesis](https://schemathesis.readthedocs.io), by name; the Error body; no more requests remain than the limit; each response, event and audit record belongs to its request; no key, SQL, path or stack in a response',
  needs: [],
  run,
};
