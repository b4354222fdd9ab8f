export type { ApiPromise, WithResponse } from './api-promise.js';
export { type ListPetsOptions, PetStoreClient } from './client.js';
export type { Deprecation } from './deprecation.js';
export {
  AuthenticationError,
  ConflictError,
  type ErrorCode,
  type Failure,
  NotFoundError,
  PermissionError,
  PetStoreConnectionError,
  PetStoreError,
  PetStoreTimeoutError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors.js';
export { toJSON } from './json.js';
export type { Key, NewPet, Pet, PetStatus, RotatedKey, Usage, UsageHistory } from './models.js';
export type {
  CallOptions,
  ConditionalOptions,
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
