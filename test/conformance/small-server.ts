// A server of the Pet Store API in memory, on node:http alone, written from the specification and
// the contract. Each defect breaks one promise.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Key {
  client: string;
  scopes: string[];
  perMinute: number;
  perDay: number;
  isRevoked?: boolean;
  successor?: string;
}

interface Pet {
  id: bigint;
  name: string;
  categoryId: bigint;
  status: string | null | undefined;
}

interface Reply {
  status: number;
  body?: string;
  headers?: Record<string, string>;
}

interface Counter {
  minute: number;
  inMinute: number;
  day: number;
  inDay: number;
}

const STATUSES = ['available', 'pending', 'sold'];
const MAX_INT64 = 2n ** 63n - 1n;
const BODY_LIMIT = 65_536;
const DAY = 86_400;
const VISIBLE = /[^\s\p{Cf}\p{Cc}\p{Zs}]/u;
// eslint-disable-next-line no-control-regex -- what a name must not have
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

const invalid = (...faults: string[]) => new ApiError(400, 'invalid_request', faults.join('; '));

export class SmallServer {
  readonly keys = new Map<string, Key>();
  private readonly pets: Pet[] = [];
  private readonly replays = new Map<string, { body: string; reply: Promise<Reply> }>();
  private readonly counters = new Map<string, Counter>();
  private readonly servers: Server[] = [];
  private readonly bodies = new WeakMap<IncomingMessage, Promise<string>>();
  private readonly defects: Set<string>;
  private lastId = 0n;
  private lastRequestId = '';

  constructor(
    private readonly now: () => number,
    defects: readonly string[],
    nodes = 2,
  ) {
    this.defects = new Set(defects);
    for (let node = 0; node < nodes; node++) {
      const server = createServer({
        requireHostHeader: !this.has('host-missing'),
        maxHeaderSize: 16_384,
      });
      server.on('request', (request, response) => void this.serve(node, request, response));
      if (this.has('no-continue')) {
        server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
          void this.serve(node, request, response);
        });
      }
      this.servers.push(server);
    }
  }

  /** @returns the base addresses of the nodes */
  async listen(): Promise<string[]> {
    for (const server of this.servers) await once(server.listen(0, '127.0.0.1'), 'listening');
    return this.servers.map(
      (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    );
  }

  close(): void {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  private has(defect: string): boolean {
    return this.defects.has(defect);
  }

  private async serve(node: number, request: IncomingMessage, response: ServerResponse) {
    const headers: Record<string, string> = { 'x-request-id': this.requestId(request) };
    if (!this.has('no-nosniff')) headers['x-content-type-options'] = 'nosniff';
    let reply: Reply;
    try {
      reply = await this.reply(node, request, headers);
    } catch (error) {
      reply = this.errorReply(error);
    }
    this.write(request, response, reply, headers);
  }

  private async reply(node: number, request: IncomingMessage, headers: Record<string, string>) {
    if (request.headersDistinct.host!.length > 1 && !this.has('second-host')) {
      throw new ApiError(400, 'malformed_request', 'There are two Host fields');
    }
    const { method = '', url = '' } = request;
    const [path = '', query = ''] = url.replace(/^http:\/\/[^/]*/, '').split(/\?(.*)/s);
    const isEarly = this.has('body-before-key') && method === 'POST' && path === '/v1/pets';
    const body = isEarly ? await this.read(request) : '';
    const token = this.authenticate(request, headers, body);
    const key = this.keys.get(token)!;
    if (path.startsWith('/v1/key')) this.count(key.client, key, headers, true);
    if (path === '/v1/key/rotate' && method === 'POST') return this.rotate(token, key);
    if (path === '/v1/key' && method === 'DELETE') return this.revoke(token, key);
    if (this.has('path-before-quota') && path === '/v1/nope') {
      throw new ApiError(404, 'not_found', 'This path does not exist');
    }
    this.count(this.has('nodes-count-apart') ? `${key.client}@${node}` : key.client, key, headers);
    if (path.length > 8_000) throw new ApiError(414, 'uri_too_long', 'The target is too long');
    if (/%(?![0-9a-f]{2})/i.test(path)) {
      throw new ApiError(400, 'malformed_request', 'The target has a bad escape');
    }
    if (path === '/v1/pets') {
      if (method === 'GET' || method === 'HEAD') return this.list(query);
      if (method === 'POST') return this.create(node, key, query, request);
      throw wrongMethod(this.has('no-allow') ? undefined : 'GET, HEAD, POST');
    }
    const slash = this.has('trailing-slash') && path === '/v1/pets/';
    if (slash) return this.list(query);
    const [, id] = /^\/v1\/pets\/([^/]+)$/.exec(path) ?? [];
    if (id === undefined) throw new ApiError(404, 'not_found', 'This path does not exist');
    if (method !== 'GET' && method !== 'HEAD') throw wrongMethod('GET, HEAD');
    if (!this.has('no-deprecation')) this.deprecate(request, headers);
    return this.get(id, query);
  }

  private requestId(request: IncomingMessage): string {
    const sent = request.headers['x-request-id'];
    const before = this.lastRequestId;
    this.lastRequestId = String(sent);
    if (this.has('request-id-of-another') && String(sent).startsWith('burst')) return before;
    if (this.has('request-id-ignored') || typeof sent !== 'string') return randomUUID();
    const isLong = sent.length > 128 && !this.has('request-id-long');
    const isKey = /ps[ka]_/.test(sent);
    return isLong || isKey || !/^[\w.-]+$/.test(sent) ? randomUUID() : sent;
  }

  private authenticate(
    request: IncomingMessage,
    headers: Record<string, string>,
    body: string,
  ): string {
    const fields = request.headersDistinct.authorization ?? [];
    const any = this.has('any-scheme') ? /^\S+ +(\S+)$/ : /^bearer +(\S+)$/i;
    const scheme = this.has('scheme-case-sensitive') ? /^Bearer +(\S+)$/ : any;
    const white = this.has('tab-in-authorization') ? /^bearer\s+(\S+)$/i : scheme;
    const [, token] = white.exec(fields[0] ?? '') ?? [];
    const key = this.keys.get(token ?? '');
    if (key !== undefined && key.isRevoked !== true && fields.length === 1) return token!;
    if (this.has('any-key') && token?.endsWith('000000') && fields.length === 1) {
      return [...this.keys.keys()][0]!;
    }
    const isMissing = fields.length === 0 || /^basic/i.test(fields[0]!);
    const address = { client: 'address', scopes: [], perMinute: 60, perDay: 1_000 };
    if (!this.has('401-without-rate-limit')) {
      this.count('address', address, headers, this.has('address-not-counted'));
    }
    if (this.has('401-counts-against-key')) this.count('main', this.keys.get('psk_main')!, {});
    if (body !== '') this.parse(body);
    const error = isMissing ? '' : ', error="invalid_token"';
    const challenge = `Bearer realm="pet-store"${error}`;
    const code = isMissing ? 'missing_api_key' : 'invalid_api_key';
    throw new ApiError(
      401,
      this.has('one-code-for-401') ? 'invalid_api_key' : code,
      'Send a valid key',
      this.has('no-challenge') ? {} : { 'www-authenticate': challenge },
    );
  }

  /** Counts a request, unless a window is full, and describes both windows. */
  private count(name: string, key: Key, headers: Record<string, string>, isFree = false): void {
    const seconds = this.now() / 1000;
    const [minute, day] = [Math.floor(seconds / 60), Math.floor(seconds / DAY)];
    const counter = this.counters.get(name) ?? { minute, inMinute: 0, day, inDay: 0 };
    if (counter.minute !== minute) Object.assign(counter, { minute, inMinute: 0 });
    if (counter.day !== day) Object.assign(counter, { day, inDay: 0 });
    this.counters.set(name, counter);
    const limit = key.perMinute + (this.has('one-too-many') && name === 'small' ? 1 : 0);
    const isAdmitted = counter.inMinute < limit && counter.inDay < key.perDay;
    if (isAdmitted && !isFree) {
      counter.inMinute++;
      counter.inDay++;
    } else if (this.has('rejected-counted')) counter.inDay++;
    const lefts = [key.perMinute - counter.inMinute, key.perDay - counter.inDay] as const;
    const [left, dayLeft] = [Math.max(0, lefts[0]), Math.max(0, lefts[1])];
    const resets = [(minute + 1) * 60, (day + 1) * DAY] as const;
    const shift = this.has('window-not-utc') ? 30 : 0;
    const until = (reset: number) => Math.max(1, Math.ceil(reset + shift - seconds));
    const isMinute = this.has('headers-of-day') ? false : left < dayLeft;
    headers['x-ratelimit-limit'] = String(isMinute ? key.perMinute : key.perDay);
    headers['x-ratelimit-remaining'] = String(isMinute ? left : dayLeft);
    headers['x-ratelimit-reset'] = String(
      this.has('reset-in-seconds') ? until(resets[0]) : (isMinute ? resets[0] : resets[1]) + shift,
    );
    headers['ratelimit-policy'] = `"minute";q=${key.perMinute};w=60,"day";q=${key.perDay};w=86400`;
    headers['ratelimit'] =
      `"minute";r=${left};t=${until(resets[0])},"day";r=${dayLeft};t=${until(resets[1])}`;
    if (this.has('no-ratelimit-fields')) delete headers['ratelimit'];
    if (isAdmitted || isFree) return;
    const after = String(until(resets[0]) - (this.has('retry-after-short') ? 2 : 0));
    throw new ApiError(
      429,
      this.has('429-code') ? 'too_many_requests' : 'rate_limit_exceeded',
      'Retry later',
      this.has('no-retry-after') ? {} : { 'retry-after': after },
    );
  }

  private list(text: string): Reply {
    const query = new URLSearchParams(text.replaceAll('+', '%2B'));
    const faults: string[] = [];
    for (const name of query.keys()) {
      const isKnown = ['limit', 'status', 'cursor'].includes(name);
      if (!isKnown && !this.has('unknown-query')) faults.push(`${name} is no parameter`);
      const isRepeated = query.getAll(name).length > 1 && !this.has('repeated-query');
      if (isRepeated) faults.push(`${name} is repeated`);
    }
    const asked = query.get('limit');
    const digits = this.has('limit-forms') ? /^\+?0*([1-9]\d?|100)$/ : /^([1-9]\d?|100)$/;
    const fallback = this.has('default-limit') ? 10 : 20;
    let limit = asked === null ? fallback : Number(digits.exec(asked)?.[1] ?? NaN);
    if (Number.isNaN(limit)) {
      if (this.has('limit-unbounded') && /^\d+$/.test(asked!)) limit = Number(asked);
      else faults.push('limit must be an integer between 1 and 100');
    }
    const status = query.get('status');
    if (status !== null && !STATUSES.includes(status)) faults.push('status is none of the three');
    const cursor = query.get('cursor');
    const [, after, ofFilter] =
      /^(\d+)\.(\w*)$/.exec(Buffer.from(cursor ?? '', 'base64url').toString()) ?? [];
    const isOther = ofFilter !== (status ?? '') && !this.has('cursor-of-any-filter');
    const isBad = cursor !== null && (after === undefined || isOther);
    if (isBad && !this.has('cursor-ignored')) faults.push('cursor is invalid');
    if (faults.length > 0) throw invalid(...(this.has('first-fault-only') ? [faults[0]!] : faults));
    const from = BigInt(after ?? 0);
    const isLate = this.has('filter-after-limit');
    const isSelected = (pet: Pet) =>
      (this.has('cursor-inclusive') && from > 0n ? pet.id >= from : pet.id > from) &&
      (status === null || this.has('no-filter') || isLate || pet.status === status);
    const selected = this.pets.filter(isSelected);
    if (this.has('descending')) selected.reverse();
    const cut = selected.slice(0, this.has('limit-plus-one') ? limit + 1 : limit);
    const page = isLate && status ? cut.filter((pet) => pet.status === status) : cut;
    const headers: Record<string, string> = {};
    if (selected.length > limit && !this.has('no-link')) {
      const parts = [`limit=${limit}`, ...(status === null ? [] : [`status=${status}`])];
      if (this.has('link-without-filter')) parts.length = 1;
      const opaque = Buffer.from(`${page.at(-1)!.id}.${status ?? ''}`).toString('base64url');
      const origin = this.has('link-relative') ? '' : this.origin;
      headers['link'] = `<${origin}/v1/pets?${parts.join('&')}&cursor=${opaque}>; rel="next"`;
    }
    const body = `[${page.map((pet) => this.text(pet)).join()}]`;
    return { status: 200, headers, body: this.has('envelope') ? `{"pets":${body}}` : body };
  }

  private get(id: string, query: string): Reply {
    if (query !== '') throw invalid('there is no query');
    const isCanonical = /^(?:0|[1-9]\d*)$/.test(id) || this.has('id-not-canonical');
    const number = isCanonical && /^\d+$/.test(id) ? BigInt(id) : -1n;
    const pet = this.pets.find((each) => each.id === number);
    if (pet !== undefined) return { status: 200, body: this.text(pet) };
    if (this.has('not-found-empty')) return { status: 200, body: 'null' };
    throw new ApiError(404, 'pet_not_found', 'There is no pet with this id');
  }

  private async create(node: number, key: Key, query: string, request: IncomingMessage) {
    if (query !== '') throw invalid('there is no query');
    if (!key.scopes.includes('pets:write') && !this.has('no-scopes')) {
      throw new ApiError(403, 'insufficient_scope', 'The key lacks pets:write');
    }
    const type = request.headers['content-type'] ?? '';
    const parameters = this.has('any-charset') ? '.*' : '(?: *; *charset="?utf-8"?)?';
    const isJson = new RegExp(`^application/json${parameters}$`, 'i').test(type);
    const text = await this.read(request);
    if (!isJson && !this.has('any-media-type')) {
      throw new ApiError(415, 'unsupported_media_type', 'Send application/json');
    }
    const idempotencyKey = request.headers['idempotency-key'] as string | undefined;
    if (idempotencyKey === undefined) return this.insert(text);
    if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) throw invalid('Idempotency-Key is invalid');
    if (this.has('no-idempotency')) return this.insert(text);
    const name = `${key.client} ${this.has('nodes-repeat-apart') ? node : ''} ${idempotencyKey}`;
    const known = this.replays.get(name);
    if (known !== undefined) {
      if (known.body !== text && !this.has('other-body-replayed')) {
        throw new ApiError(422, 'idempotency_key_reused', 'The body differs');
      }
      const { headers, ...reply } = await known.reply;
      const mark = this.has('replay-unmarked') ? undefined : { 'idempotent-replayed': 'true' };
      return { ...reply, headers: { ...headers, ...mark } };
    }
    if (this.has('claim-after-insert')) await new Promise((resume) => setTimeout(resume, 5));
    const attempt = Promise.resolve().then(() => this.insert(text));
    this.replays.set(name, { body: text, reply: attempt });
    attempt.catch(() => !this.has('errors-stored') && this.replays.delete(name));
    return attempt;
  }

  private insert(text: string): Reply {
    const { name, categoryId, status } = this.parse(text);
    const twin = this.pets.find((pet) => pet.name === name && pet.status === 'available');
    const isReused = this.has('id-reused') && twin !== undefined && status === 'available';
    if (!isReused) this.lastId++;
    const isFalling = this.has('ids-not-increasing') && this.lastId > 25n;
    const id = isReused ? twin.id : isFalling ? 1_000n - this.lastId : this.lastId;
    const pet = { id, name, categoryId, status };
    if (this.has('no-create')) throw invalid('there is no room');
    if (this.has('default-status')) pet.status ??= 'available';
    if (this.has('name-trimmed')) pet.name = name.trim();
    if (this.has('name-normalised')) pet.name = name.normalize('NFC');
    this.pets.push(pet);
    this.pets.sort((one, other) => Number(one.id - other.id));
    const path = this.has('location-of-list') ? '/v1/pets' : `/v1/pets/${id}`;
    const headers: Record<string, string> = { location: `${this.origin}${path}` };
    return { status: this.has('created-200') ? 200 : 201, body: this.text(pet), headers };
  }

  /** Reads a NewPet, or lists every fault of its members. */
  private parse(text: string): { name: string; categoryId: bigint; status: string | undefined } {
    let body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- what was sent
    try {
      body = JSON.parse(text);
    } catch {
      throw new ApiError(
        400,
        this.has('no-malformed-json') ? 'bad_json' : 'malformed_json',
        'no JSON',
      );
    }
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw invalid('the body must be an object');
    }
    const faults: string[] = [];
    const names = [...text.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)].map(([, name]) => name!);
    for (const name of names) {
      const isKnown = ['name', 'categoryId', 'status'].includes(name);
      if (!isKnown && !this.has('unknown-members')) faults.push(`${name} is no member`);
    }
    const isRepeated = new Set(names).size < names.length && !this.has('repeated-member');
    if (isRepeated) faults.push('a member is repeated');
    const { name, status } = body;
    const length = this.has('name-in-code-units') ? String(name).length : [...String(name)].length;
    const isString = typeof name === 'string' || (this.has('name-of-any-type') && name != null);
    if (!isString || length < 1 || length > 255) faults.push('name has 1 to 255 characters');
    else if (!VISIBLE.test(name) && !this.has('name-invisible')) faults.push('name is not visible');
    const isPlain = !CONTROL.test(name) && String(name).isWellFormed();
    if (!isPlain && !this.has('name-with-control')) faults.push('name is not well-formed');
    const isNull = status === null && this.has('status-null');
    const isStatus = status === undefined || STATUSES.includes(status) || this.has('any-status');
    if (!isStatus && !isNull) faults.push('status is none of the three');
    const categoryId = this.categoryId(text, body, faults);
    if (faults.length > 0) throw invalid(...(this.has('first-fault-only') ? [faults[0]!] : faults));
    return { name: String(name), categoryId: categoryId!, status };
  }

  private categoryId(text: string, body: { categoryId?: unknown }, faults: string[]) {
    const number = /"categoryId"\s*:\s*("?)(-?\d+)(?:\.0+)?\1\s*[,}]/.exec(text);
    const isNumber = typeof body.categoryId === 'number' || this.has('category-of-any-type');
    if (number === null || !isNumber) {
      if (this.has('category-optional') && body.categoryId === undefined) return 0n;
      if (this.has('category-fraction') && isNumber) return 1n;
      return void faults.push('categoryId must be an integer');
    }
    const exact = BigInt(number[2]!);
    if (this.has('one-point-zero') && text.includes('.0')) return void faults.push('categoryId');
    const isInRange = exact <= MAX_INT64 && exact >= -MAX_INT64 - 1n;
    if (!isInRange && !this.has('int64-wraps')) return void faults.push('categoryId is no int64');
    if (this.has('int64-rounded')) return BigInt(Number(exact));
    return exact;
  }

  private text({ id, name, categoryId, status }: Pet): string {
    const last = status === undefined ? '' : `,"status":${JSON.stringify(status)}`;
    const number = this.has('id-as-string') ? `"${id}"` : String(id);
    const shown = this.has('status-null-shown') && status === undefined ? ',"status":null' : last;
    return `{"id":${number},"name":${JSON.stringify(name)},"categoryId":${categoryId}${shown}}`;
  }

  private rotate(token: string, key: Key): Reply {
    const known = this.keys.get(key.successor ?? '');
    if (known !== undefined) throw new ApiError(409, 'key_already_rotated', 'It has a successor');
    const successor = `psk_successor${randomUUID().replaceAll('-', '')}`;
    this.keys.set(successor, { ...key });
    key.successor = successor;
    if (this.has('rotation-without-grace')) key.isRevoked = true;
    const previous = { id: token, expiresAt: null };
    const body = { id: 'new', key: successor, expiresAt: null, previous };
    return { status: 201, body: JSON.stringify(body) };
  }

  private revoke(_token: string, key: Key): Reply {
    if (!this.has('revocation-ignored')) key.isRevoked = true;
    return { status: 204 };
  }

  private deprecate(_request: IncomingMessage, headers: Record<string, string>): void {
    headers['deprecation'] = '@1764892800';
    headers['sunset'] = 'Thu, 05 Dec 2030 00:00:00 GMT';
    headers['link'] =
      `<${this.origin}/v1/pets>; rel="successor-version", <${this.origin}/docs>; rel="deprecation"`;
  }

  private read(request: IncomingMessage): Promise<string> {
    const reading = this.bodies.get(request) ?? this.readBody(request);
    this.bodies.set(request, reading);
    return reading;
  }

  private async readBody(request: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (body.length > BODY_LIMIT && !this.has('no-body-limit')) {
      throw new ApiError(413, 'payload_too_large', 'The body is over 64 KiB');
    }
    return body.toString();
  }

  private errorReply(error: unknown): Reply {
    const known = error instanceof ApiError ? error : new ApiError(500, 'internal_error', 'Oops');
    const { status, code, message, headers } = known;
    const body: Record<string, unknown> = { code, message, status };
    if (this.has('status-of-error-wrong')) body['status'] = 500;
    if (this.has('error-with-details')) body['details'] = [];
    if (this.has('error-without-message') && status === 404) delete body['message'];
    if (this.has('stack-in-error')) body['message'] = `${message} at serve (server.js:1:1)`;
    return { status, headers, body: JSON.stringify(body) };
  }

  private write(
    request: IncomingMessage,
    response: ServerResponse,
    { status, body = '', headers = {} }: Reply,
    common: Record<string, string>,
  ): void {
    const date = new Date(this.now()).toUTCString();
    const all: Record<string, string> = { date, ...common, ...headers };
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    all['cache-control'] = status === 200 ? 'private, no-cache' : 'no-store';
    if (this.has('errors-cacheable') && status >= 400) all['cache-control'] = 'no-cache';
    if (this.has('success-public'))
      all['cache-control'] = all['cache-control'].replace('private', 'public');
    const errorType = this.has('error-type') && status >= 400 ? 'application/problem+json' : '';
    all['content-type'] =
      errorType ||
      `application/json${status < 400 && this.has('charset') ? '' : '; charset=utf-8'}`;
    let final = status;
    if (status === 200 && isRead && !this.has('no-etag')) {
      const covered = this.has('etag-without-link') ? body : body + (all['link'] ?? '');
      const tag = createHash('sha256').update(covered).digest('base64url').slice(0, 22);
      all['etag'] = this.has('etag-weak') ? `W/"${tag}"` : `"${tag}"`;
      const asked = request.headers['if-none-match'] ?? '';
      const isSame = this.has('if-none-match-exact') ? asked === all['etag'] : asked.includes(tag);
      if (isSame || asked === '*' || (this.has('always-304') && asked !== '')) final = 304;
    }
    if (final === 304 || final === 204) {
      delete all['content-type'];
      if (this.has('304-without-etag')) delete all['etag'];
    } else if (request.method !== 'HEAD' || !this.has('head-without-length')) {
      all['content-length'] = String(Buffer.byteLength(body));
    }
    if (this.has('rate-limit-twice') && final === 200) {
      response.setHeader('x-ratelimit-limit', [all['x-ratelimit-limit'] ?? '', '1']);
      delete all['x-ratelimit-limit'];
    }
    response.writeHead(final, all);
    response.end(final === 304 || request.method === 'HEAD' ? undefined : body);
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.servers[0]!.address() as AddressInfo).port}`;
  }
}

function wrongMethod(allow: string | undefined): ApiError {
  const headers: Record<string, string> = allow === undefined ? {} : { allow };
  return new ApiError(405, 'method_not_allowed', 'The method is not allowed', headers);
}
