import { errors as coreErrors } from './core/errors/errors.js';
import { petErrors } from './pets/pet.errors.js';

/** The public interface for extensions. Everything else may change at any time. */
export { Clock } from './core/time/clock.js';
export { type Config, loadConfig } from './core/config/config.js';
export {
  ApiError,
  type ApiErrorOptions,
  defineErrors,
  type ErrorDefinition,
  type ErrorFactories,
  type ErrorFactory,
} from './core/errors/api-error.js';
export { ApiErrors, ErrorBody } from './core/errors/api-errors.decorator.js';
export { Deprecated, type Deprecation } from './core/deprecation/deprecation.js';
export {
  defineConfig,
  defineExtension,
  type Extension,
  type ExtensionCommand,
  type NamedExtension,
  type PetStoreConfig,
  type Seed,
} from './extensions/define.js';
export type { KeyBanned, QuotaThreshold } from './core/keys/caller-events.js';
export type { PetEvent } from './pets/pet.events.js';
export { Database } from './core/database/database.js';
export { afterCommit, rowLock } from './core/database/transactions.js';
export { Events } from './core/events/events.js';
export { Readiness, type ReadinessCheck } from './core/health/readiness.js';
export { settingsOf } from './extensions/settings.js';
export { AcceptsBody, BodyLimit, type BodyLimits } from './core/http/body.decorators.js';
export { Public } from './core/http/public.decorator.js';
export { stringifyJson } from './core/http/stringify-json.js';
export { bigintColumn, numberColumn } from './core/database/columns.js';
export { Int64Pipe, isInt64, IsInt64, IsInt64Text, parseInt64 } from './core/input/int64.js';

export { Cursor, type CursorKey, type CursorKind } from './core/input/cursor.js';
export { ApiPage } from './core/input/api-page.decorator.js';
export { StrictInput } from './core/input/strict-input.decorator.js';
export { InputPipe } from './core/input/input.pipe.js';
export { Page, PageQuery } from './core/input/page.js';
export { constrain, MayBeAbsent } from './core/input/constrain.js';
export { isVisible } from './core/input/visible-text.js';
export { Creates } from './core/http/creates.decorator.js';
export { Idempotent } from './core/idempotency/idempotent.decorator.js';
export { AnyScope, RequireScope } from './core/keys/scope.guard.js';
export { type Caller, CurrentCaller } from './core/keys/caller.js';
export type { Limits, Quota } from './core/rate-limits/limits.js';
export type { TokenVerifier, VerifiedCaller } from './core/keys/verifiers.js';
export type { PetStore } from './pet-store.js';
export { startPetStore } from './server.js';
export { Logger } from './core/telemetry/logger.js';
export { Metrics } from './core/telemetry/metrics.js';
export type { Counter, Gauge, Histogram } from 'prom-client';
export { Pet, type PetStatus } from './pets/pet.entity.js';
export { Pets, type StoredPet } from './extensions/pets.js';
export { type Row, TableGateway } from './core/tables/table-gateway.js';
export { requestContext, type RequestContext } from './core/telemetry/request-context.js';

/** The errors of the core and of pets. */
export const errors = { ...coreErrors, ...petErrors };
/** The codes of `errors`. */
export type ErrorCode = keyof typeof errors;
