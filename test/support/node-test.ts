/** The names of `node:test`, for tests that Jest runs here and Node in a generated package. */
export { afterAll as after, beforeAll as before, describe, it } from '@jest/globals';
