import { type ApiPromise, toApiPromise } from './api-promise.js';
import { writeJson } from './json.js';
import type { NewPet, Pet, PetStatus, Usage } from './models.js';
import { nameOperation } from './operation-name.js';
import type {
  CallOptions,
  CreateOptions,
  PetStoreClientOptions,
  Query,
  RequestOptions,
} from './options.js';
import { PetList } from './pet-list.js';
import type { RateLimitState } from './rate-limit.js';
import { type Runtime, systemRuntime } from './runtime.js';
import { INT64_MEMBERS } from './schema.js';
import { type Result, Sender } from './sender.js';

export interface ListPetsOptions extends CallOptions {
  status?: PetStatus | undefined;
  /** Animals a page, 1 to 100: 100, unless told otherwise, since each page is a request. */
  pageSize?: number | undefined;
}

interface Operation extends RequestOptions {
  /** One of ours, which always answers with JSON. */
  isOurs?: boolean;
  isFree?: boolean;
}

/** The pet store, for one API key. */
export class PetStoreClient {
  private readonly baseUrl: string;
  private readonly apiKey: string;
  private readonly sender: Sender;

  constructor(options: PetStoreClientOptions);
  /** @internal */
  constructor(options: PetStoreClientOptions, runtime: Runtime);
  constructor(options: PetStoreClientOptions, runtime: Runtime = systemRuntime) {
    const { origin, pathname } = new URL(options.baseUrl);
    this.baseUrl = origin + pathname.replace(/\/+$/, '');
    this.apiKey = options.apiKey;
    this.sender = new Sender(options, runtime);
  }

  /** What is left, by the latest answer; undefined before the first. */
  get rateLimit(): RateLimitState | undefined {
    return this.sender.rateLimit;
  }

  /** Adds an animal: once, however often the connection breaks. */
  createPet(pet: NewPet, options: CreateOptions = {}): ApiPromise<Pet> {
    return toApiPromise(
      this.send('POST', '/pets', {
        ...options,
        operation: 'createPet',
        isOurs: true,
        int64Members: INT64_MEMBERS,
        body: pet,
      }),
    );
  }

  /** Animals in the order of their ids, of as many pages as there are. */
  listPets(options: ListPetsOptions = {}): PetList {
    const { status, pageSize = 100, ...callOptions } = options;
    return new PetList(async (cursor) => {
      const { data, answer } = await this.send('GET', '/pets', {
        ...callOptions,
        operation: 'listPets',
        isOurs: true,
        int64Members: INT64_MEMBERS,
        query: { limit: pageSize, status, cursor },
      });
      return { pets: data as Pet[], headers: answer.response.headers };
    });
  }

  /** @deprecated To be removed on 5 December 2030: list with a `status` filter instead. */
  getPet(id: bigint, options: CallOptions = {}): ApiPromise<Pet> {
    return toApiPromise(
      this.send('GET', `/pets/${id}`, {
        ...options,
        operation: 'getPet',
        isOurs: true,
        int64Members: INT64_MEMBERS,
      }),
    );
  }

  /** The plan and what is left of it. Takes no quota, and is answered to a banned key as well. */
  getUsage(options: CallOptions = {}): ApiPromise<Usage> {
    return toApiPromise(
      this.send('GET', '/usage', {
        ...options,
        operation: 'getUsage',
        isOurs: true,
        isFree: true,
      }),
    );
  }

  /** Any other operation of the service, as an extension's, by its path below the base address. */
  request<Response = unknown, Body = unknown>(
    method: string,
    path: string,
    options: RequestOptions<Body> = {},
  ): ApiPromise<Response> {
    return toApiPromise(this.send(method.toUpperCase(), path, options));
  }

  private async send(method: string, path: string, options: Operation): Promise<Result> {
    const { query, body, idempotencyKey, int64Members, isOurs = false, isFree = false } = options;
    const url = this.urlOf(path, query);
    const headers = new Headers({ accept: 'application/json' });
    headers.set('authorization', `Bearer ${this.apiKey}`);
    const text = body === undefined ? undefined : writeJson(body);
    if (text !== undefined) headers.set('content-type', 'application/json');
    const key = idempotencyKey ?? (isCreating(method) ? randomKey() : undefined);
    if (key !== undefined) headers.set('idempotency-key', key);
    const call = {
      operation: options.operation ?? nameOperation(method, url.slice(this.baseUrl.length)),
      ...{ method, url, headers, body: text, isFree },
      int64Members: new Set(int64Members),
      isAlwaysJson: isOurs,
    };
    // Throws where it cannot be sent. The same of `fetch` is taken for a broken connection, and tried again.
    new Request(call.url, { method, body: text === undefined ? null : '' });
    return this.sender.send(call, options);
  }

  /** Never another address than one below the base: the key goes with it. */
  private urlOf(path: string, query: Query = {}): string {
    const url = new URL(this.baseUrl + path);
    if (!url.href.startsWith(`${this.baseUrl}/`)) {
      throw new TypeError(`${path} is no path below ${this.baseUrl}`);
    }
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) {
        if (each !== undefined) url.searchParams.append(name, String(each));
      }
    }
    return url.href;
  }
}

/** Methods that do again what is sent again (RFC 9110 section 9.2.2). */
function isCreating(method: string): boolean {
  return method === 'POST' || method === 'PATCH';
}

/** `crypto.randomUUID` is not there for pages without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
