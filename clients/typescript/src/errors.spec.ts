import {
  AuthenticationError,
  ConflictError,
  createError,
  NotFoundError,
  PermissionError,
  PetStoreConnectionError,
  PetStoreError,
  PetStoreTimeoutError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors.js';

const failure = { code: 'a_code', message: 'A message', requestId: 'r', retryAfterSeconds: 7 };

describe(createError.name, () => {
  it.each([
    [400, ValidationError],
    [401, AuthenticationError],
    [403, PermissionError],
    [404, NotFoundError],
    [409, ConflictError],
    [410, PetStoreError],
    [422, ConflictError],
    [429, RateLimitError],
    [500, ServerError],
    [503, ServerError],
  ])('turns status %i into %p', (status, errorClass) => {
    const error = createError({ ...failure, status });
    expect(error).toBeInstanceOf(PetStoreError);
    expect(error.constructor).toBe(errorClass);
    expect(error.name).toBe(errorClass.name);
  });
});

describe('JSON.stringify of an error', () => {
  it('contains what the service responded', () => {
    const json = JSON.stringify(createError({ ...failure, status: 429 }));
    expect(JSON.parse(json)).toEqual({ name: 'RateLimitError', status: 429, ...failure });
  });

  it.each([
    [new PetStoreConnectionError('No response'), 'PetStoreConnectionError', 'No response'],
    [new PetStoreTimeoutError(5), 'PetStoreTimeoutError', 'No response within 5 ms'],
  ])('contains name and message of %p', (error, name, message) =>
    expect(JSON.parse(JSON.stringify(error))).toEqual({ name, message }),
  );
});
