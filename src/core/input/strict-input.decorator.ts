import { SetMetadata } from '@nestjs/common';

/** Metadata key of a controller that takes declared input only. */
export const STRICT_INPUT = 'petstore:strict-input';

/**
 * Rejects every query parameter of an operation that declares no `@Query()`, and ignores the body
 * of an operation that declares no `@Body()`. Without this decorator, such an operation accepts any
 * query parameters, as in Nest, and a JSON body is parsed for guards and interceptors.
 */
export const StrictInput = (): ClassDecorator => SetMetadata(STRICT_INPUT, true);
