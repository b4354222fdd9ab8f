import { unreadResponse } from './answer.js';
import type { Result } from './sender.js';

export interface WithResponse<T> {
  data: T;
  /** The last answer, its body still to be read. */
  response: Response;
}

/** What the answer says; with the answer itself for who asks. */
export interface ApiPromise<T> extends Promise<T> {
  withResponse(): Promise<WithResponse<T>>;
}

export function toApiPromise<T>(result: Promise<Result>): ApiPromise<T> {
  const data = result.then((each) => each.data as T);
  const withResponse = async (): Promise<WithResponse<T>> => {
    // Who asks for both is told of a failure by this promise alone.
    data.catch(() => undefined);
    const { data: each, answer } = await result;
    return { data: each as T, response: unreadResponse(answer) };
  };
  return Object.assign(data, { withResponse });
}
