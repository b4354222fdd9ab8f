import { type ApiPromise, toApiPromise } from './api-promise.js';
import { toJSON } from './json.js';
import type { Key, NewPet, Pet, PetStatus, RotatedKey, Usage, UsageHistory } from './models.js';
import { nameOperation } from './operation-name.js';
import type {
  CallOptions,
  ConditionalOptions,
  CreateOptions,
  PetStoreClientOptions,
  Query,
  RequestOptions,
} from './options.js';
import { PetList } from './pet-list.js';
import type { RateLimitState } from './rate-limit.js';
import { type Runtime, serviceTime, systemRuntime } from './runtime.js';
import { INT64_MEMBERS, TIME_MEMBERS } from './schema.js';
import { type Result, Sender } from './sender.js';

export interface ListPetsOptions extends CallOptions {
  /** Only pets with this status. Default: all pets. */
  status?: PetStatus | undefined;
  /** Pets per page, 1 to 100. Default: 100. Each page is one request. */
  pageSize?: number | undefined;
}

interface Operation extends RequestOptions {
  /** The operation belongs to the service itself, and always responds with JSON. */
  isOwn?: boolean;
  isFree?: boolean;
  /** A POST that is safe to repeat without an idempotency key. */
  isRepeatable?: boolean;
  /** Revokes the key: a repeat that gets a 401 has succeeded before. */
  endsKey?: boolean;
}

const EXPIRY_WARNING_MS = 14 * 86_400_000;

/** Calls the Pet Store Service with one API key. */
export class PetStoreClient {
  private readonly baseUrl: string;
  private readonly apiKey: string;
  private readonly sender: Sender;
  private readonly onKeyExpiring: PetStoreClientOptions['onKeyExpiring'];

  /**
   * @throws {TypeError} if the base URL is invalid, if it would send the key unencrypted, or if
   *   there is no API key
   */
  constructor(options: PetStoreClientOptions);
  /** @internal */
  constructor(options: PetStoreClientOptions, runtime: Runtime);
  constructor(options: PetStoreClientOptions, runtime: Runtime = systemRuntime) {
    const url = new URL(options.baseUrl);
    if (!options.allowInsecure) requireEncryption(url);
    this.baseUrl = url.origin + url.pathname.replace(/\/+$/, '');
    this.apiKey = requireApiKey(options.apiKey ?? apiKeyOfEnvironment());
    this.sender = new Sender(options, runtime);
    this.onKeyExpiring = options.onKeyExpiring;
  }

  /** The quota as of the latest response. Undefined before the first response. */
  get rateLimit(): RateLimitState | undefined {
    return this.sender.rateLimit;
  }

  /**
   * Creates a pet. Retries do not create a second one, because they repeat the same idempotency
   * key.
   */
  createPet(pet: NewPet, options: CreateOptions = {}): ApiPromise<Pet> {
    return toApiPromise(
      this.send('POST', '/pets', {
        ...options,
        operation: 'createPet',
        isOwn: true,
        body: pet,
      }),
    );
  }

  /**
   * Lists pets in the order of their IDs. `await` gives the first page, `for await` iterates over
   * all pets.
   */
  listPets(options: ListPetsOptions = {}): PetList {
    const { status, pageSize = 100, ...callOptions } = options;
    return new PetList((cursor) =>
      toApiPromise(
        this.send('GET', '/pets', {
          ...callOptions,
          operation: 'listPets',
          isOwn: true,
          query: { limit: pageSize, status, cursor },
        }),
      ),
    );
  }

  /**
   * @deprecated Will be removed on 5 December 2030. Use `listPets`, with a `status` if it is known.
   */
  getPet(id: bigint, options?: CallOptions): ApiPromise<Pet>;
  /** @deprecated @returns undefined if the pet is still that of `ifNoneMatch` */
  getPet(id: bigint, options: ConditionalOptions): ApiPromise<Pet | undefined>;
  getPet(id: bigint, options: ConditionalOptions = {}): ApiPromise<Pet | undefined> {
    return toApiPromise(
      this.send('GET', `/pets/${id}`, {
        ...options,
        operation: 'getPet',
        isOwn: true,
      }),
    );
  }

  /**
   * Gets the plan and the remaining quota. Consumes no quota, and works while the key is banned.
   */
  getUsage(options: CallOptions = {}): ApiPromise<Usage> {
    return toApiPromise(
      this.send('GET', '/usage', {
        ...options,
        operation: 'getUsage',
        isOwn: true,
        isFree: true,
      }),
    );
  }

  /**
   * Gets the number of requests by hour and code, and the latest rejected requests.
   *
   * @param options.hours 1 to 168. Default: 24.
   */
  getUsageHistory(options: CallOptions & { hours?: number } = {}): ApiPromise<UsageHistory> {
    const { hours, ...callOptions } = options;
    return toApiPromise(
      this.send('GET', '/usage/history', {
        ...callOptions,
        operation: 'getUsageHistory',
        isOwn: true,
        isFree: true,
        query: { hours },
      }),
    );
  }

  /** Gets the key of this client, without its secret. Calls `onKeyExpiring`. */
  getKey(options: CallOptions = {}): ApiPromise<Key> {
    const sent = this.send('GET', '/key', {
      ...options,
      operation: 'getKey',
      isOwn: true,
      isFree: true,
    });
    return toApiPromise(
      sent.then((result) => {
        const key = result.data as Key;
        const now = serviceTime(result.buffered.response.headers);
        const leftMs = (key.expiresAt?.getTime() ?? Infinity) - now;
        if (leftMs < EXPIRY_WARNING_MS) this.onKeyExpiring?.(key);
        return result;
      }),
    );
  }

  /**
   * Issues a new key; the old one stays valid for a grace period. Store the new key, and create a
   * client with it. Requires the scope `key:rotate`. Retries are safe: an unused key is replaced.
   *
   * @param options.graceSeconds 0 to 86400. Default: 86400.
   */
  rotateKey(options: CallOptions & { graceSeconds?: number } = {}): ApiPromise<RotatedKey> {
    const { graceSeconds, ...callOptions } = options;
    return toApiPromise(
      this.send('POST', '/key/rotate', {
        ...callOptions,
        operation: 'rotateKey',
        isOwn: true,
        isFree: true,
        isRepeatable: true,
        body: { graceSeconds },
      }),
    );
  }

  /**
   * Ends the key of this client, for example after a leak. Repeats are safe: if the first response
   * was lost, the 401 of a repeat means that the key has ended.
   */
  revokeKey(options: CallOptions = {}): ApiPromise<void> {
    return toApiPromise(
      this.send('DELETE', '/key', {
        ...options,
        operation: 'revokeKey',
        isFree: true,
        endsKey: true,
      }),
    );
  }

  /**
   * Calls any operation below the base URL, for example one of an extension.
   *
   * @param path path below the base URL, such as `/store/orders`
   */
  request<Response = unknown, Body = unknown>(
    method: string,
    path: string,
    options: RequestOptions<Body> = {},
  ): ApiPromise<Response> {
    return toApiPromise(this.send(method.toUpperCase(), path, options));
  }

  private async send(method: string, path: string, options: Operation): Promise<Result> {
    const { query, body, isOwn = false, isFree = false, endsKey = false } = options;
    const url = this.urlOf(path, query);
    const headers = new Headers(options.headers);
    if (!headers.has('accept')) headers.set('accept', 'application/json');
    headers.set('authorization', `Bearer ${this.apiKey}`);
    const text = body === undefined ? undefined : toJSON(body);
    if (text !== undefined) headers.set('content-type', 'application/json');
    const isRepeatable = options.isRepeatable ?? isIdempotent(method);
    const key = options.idempotencyKey ?? (isRepeatable ? undefined : randomKey());
    if (key !== undefined) headers.set('idempotency-key', key);
    if (options.ifNoneMatch !== undefined) headers.set('if-none-match', options.ifNoneMatch);
    const call = {
      operation: options.operation ?? nameOperation(method, url.slice(this.baseUrl.length)),
      ...{ method, url, headers, body: text, isFree, endsKey },
      int64Members: new Set(isOwn ? INT64_MEMBERS : options.int64Members),
      timeMembers: new Set(isOwn ? TIME_MEMBERS : []),
      isAlwaysJson: isOwn,
    };
    // Throws a TypeError for an invalid request. The same error of `fetch` would count as a broken
    // connection.
    new Request(call.url, { method, body: text === undefined ? null : '' });
    return this.sender.send(call, options);
  }

  /** Rejects addresses outside the base URL, because the request contains the key. */
  private urlOf(path: string, query: Query = {}): string {
    const url = new URL(this.baseUrl + path);
    if (!url.href.startsWith(`${this.baseUrl}/`)) {
      throw new TypeError(`path must lead to an address below ${this.baseUrl}, but is "${path}"`);
    }
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) {
        if (each !== undefined) url.searchParams.append(name, String(each));
      }
    }
    return url.href;
  }
}

/** Browsers have no `process`. */
function apiKeyOfEnvironment(): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.['PETSTORE_API_KEY'];
}

/** Requests to this machine do not leave it. URL writes each form of an address in the same way. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Anyone on the way could read the key. */
function requireEncryption({ protocol, hostname, origin }: URL): void {
  if (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))) return;
  throw new TypeError(
    `baseUrl must start with https:, but is at ${origin}: the API key would be readable on the way (allowInsecure: true permits it)`,
  );
}

function requireApiKey(apiKey: string | undefined): string {
  if (typeof apiKey === 'string' && apiKey.trim() !== '') return apiKey;
  throw new TypeError(
    `apiKey is ${apiKey === undefined ? 'missing' : 'empty'}: pass the option apiKey, or set the environment variable PETSTORE_API_KEY`,
  );
}

/**
 * RFC 9110 section 9.2.2. POST and PATCH are the only methods of `fetch` that are not idempotent.
 */
function isIdempotent(method: string): boolean {
  return method !== 'POST' && method !== 'PATCH';
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
