export type { ApiPromise, WithResponse } from './api-promise.js';
export { type ListPetsOptions, PetStoreClient } from './client.js';
export type { Deprecation } from './deprecation.js';
export {
  type ErrorCode,
  type Failure,
  PetStoreConnectionError,
  PetStoreError,
  PetStoreTimeoutError,
} from './errors.js';
export type { NewPet, Pet, PetStatus, Usage } from './models.js';
export type {
  CallOptions,
  CreateOptions,
  Hooks,
  PetStoreClientOptions,
  Query,
  RequestEvent,
  RequestOptions,
  ResponseEvent,
  RetryEvent,
} from './options.js';
export type { PetList } from './pet-list.js';
export type { RateLimitState, WindowState } from './rate-limit.js';
