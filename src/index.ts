import { errors as coreErrors } from './errors/errors.js';
import { petErrors } from './pets/pet.errors.js';

/** The public interface for extensions. Everything else may change at any time. */
export { Clock } from './time/clock.js';
export { type Config, loadConfig } from './config/config.js';
export {
  ApiError,
  type ApiErrorOptions,
  defineErrors,
  type ErrorDefinition,
  type ErrorFactories,
  type ErrorFactory,
} from './errors/api-error.js';
export { ApiErrors, ErrorBody } from './errors/api-errors.decorator.js';
export { Deprecated, type Deprecation } from './deprecation/deprecation.js';
export {
  defineConfig,
  defineExtension,
  type Extension,
  type NamedExtension,
  type PetStoreConfig,
  type Seed,
} from './extensions/define.js';
export type { KeyBanned, QuotaThreshold } from './keys/caller-events.js';
export type { PetEvent } from './pets/pet.events.js';
export { Database } from './database/database.js';
export { afterCommit, rowLock } from './database/transactions.js';
export { Events } from './events/events.js';
export { Readiness, type ReadinessCheck } from './health/readiness.js';
export { settingsOf } from './extensions/settings.js';
export { Public } from './http/public.decorator.js';
export { stringifyJson } from './http/stringify-json.js';
export { PublicAddress } from './config/public-address.js';
export { bigintColumn, numberColumn } from './database/columns.js';
export {
  INT64_MAX,
  INT64_MIN,
  Int64Pipe,
  isInt64,
  IsInt64,
  IsInt64Text,
  parseInt64,
} from './input/int64.js';

export { Cursor, type CursorKey, type CursorKind } from './input/cursor.js';
export { ApiPage } from './input/api-page.decorator.js';
export { StrictInput } from './input/strict-input.decorator.js';
export { InputPipe } from './input/input.pipe.js';
export { Page, PageQuery } from './input/page.js';
export { constrain, MayBeAbsent } from './input/constrain.js';
export { isVisible } from './input/visible-text.js';
export { Creates } from './http/creates.decorator.js';
export { Idempotent } from './idempotency/idempotent.decorator.js';
export { AnyScope, RequireScope } from './keys/scope.guard.js';
export { type Caller, CurrentCaller } from './keys/caller.js';
export type { TokenVerifier, VerifiedCaller } from './keys/verifiers.js';
export type { PetStore } from './pet-store.js';
export { startPetStore } from './server.js';
export { Logger } from './telemetry/logger.js';
export { Metrics } from './telemetry/metrics.js';
export type { Counter, Gauge, Histogram } from 'prom-client';
export { Pet, type PetStatus } from './pets/pet.entity.js';
export { Pets, type StoredPet } from './extensions/pets.js';
export { type Row, TableGateway } from './tables/table-gateway.js';
export { requestContext, type RequestContext } from './telemetry/request-context.js';

/** The errors of the core and of pets. */
export const errors = { ...coreErrors, ...petErrors };
export type ErrorCode = keyof typeof errors;
