import { toUnreadResponse } from './read-response.js';
import type { Result } from './sender.js';

export interface WithResponse<T> {
  data: T;
  /** The response of the last attempt. Its body has not been read. */
  response: Response;
}

/** A promise of the data, with access to the HTTP response. */
export interface ApiPromise<T> extends Promise<T> {
  /** @returns the data together with the HTTP response. */
  withResponse(): Promise<WithResponse<T>>;
}

export function toApiPromise<T>(result: Promise<Result>): ApiPromise<T> {
  const dataPromise = result.then(({ data }) => data as T);
  const withResponse = async (): Promise<WithResponse<T>> => {
    // The returned promise reports the failure. Without this, it would be an unhandled rejection,
    // too.
    dataPromise.catch(() => undefined);
    const { data, buffered } = await result;
    return { data: data as T, response: toUnreadResponse(buffered) };
  };
  return Object.assign(dataPromise, { withResponse });
}
