import type { Answer } from './answer.js';
import { PetStoreConnectionError, PetStoreTimeoutError } from './errors.js';
import type { Runtime } from './runtime.js';

export interface Outgoing {
  url: string;
  method: string;
  headers: Headers;
  body: string | undefined;
}

export interface Limits {
  timeoutMs: number;
  /** How much of that has passed already. */
  waitedMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Sends once, and waits for the whole answer. Whatever `fetch` makes of it, an abort rejects with its
 * reason, at once.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  { url, method, headers, body }: Outgoing,
  { timeoutMs, waitedMs, signal }: Limits,
  runtime: Runtime,
): Promise<Answer> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise: ended, reject: end } = rejection();
  const endWith = (reason: unknown): void => {
    end(reason);
    controller.abort(reason);
  };
  const onAbort = (): void => endWith(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const stopTimer = runtime.after(timeoutMs - waitedMs, () =>
    endWith(new PetStoreTimeoutError(timeoutMs)),
  );
  const answered = async (): Promise<Answer> => {
    // A redirect would take the key elsewhere, and make a GET of a create.
    const init: RequestInit = { method, headers, redirect: 'manual', signal: controller.signal };
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    return { response, text: await response.text() };
  };
  try {
    return await Promise.race([answered(), ended]);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof PetStoreTimeoutError) throw error;
    throw new PetStoreConnectionError(`No answer from ${method} ${url}`, { cause: error });
  } finally {
    stopTimer();
    signal?.removeEventListener('abort', onAbort);
  }
}

function rejection(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject!: (reason: unknown) => void;
  const promise = new Promise<never>((_, rejectPromise) => (reject = rejectPromise));
  promise.catch(() => undefined);
  return { promise, reject };
}
