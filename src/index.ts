/** The public surface for guest modules: what is not listed here may change at any time. */
export type { Extension } from './app.module.js';
export { Clock } from './config/clock.js';
export { type Config, loadConfig } from './config/config.js';
export { Engine } from './database/engine.js';
export { type Parameter, run, Statement, type Work } from './database/statement.js';
export { ApiError, type ErrorCode } from './http/api-error.js';
export { Deprecated } from './http/deprecation.js';
export { ErrorBody } from './http/error.dto.js';
export { JsonAnswer } from './http/json-answer.js';
export { Public } from './http/public.decorator.js';
export { PublicAddress } from './http/public-address.js';
export { constrain, MayBeAbsent } from './http/validation.js';
export {
  ApiIdempotent,
  Idempotency,
  type IdempotentRequest,
} from './idempotency/idempotent-request.js';
export { IdempotencyModule } from './idempotency/idempotency.module.js';
export { type Creation, IdempotencyService } from './idempotency/idempotency.service.js';
export { type Caller, CurrentCaller } from './keys/caller.js';
export { RequireScope } from './keys/scope.guard.js';
export { type PetStore, startPetStore } from './server.js';
export { Logger } from './telemetry/logger.js';
