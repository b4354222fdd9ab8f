import { PetStoreConnectionError, PetStoreTimeoutError } from './errors.js';
import type { BufferedResponse } from './read-response.js';
import type { Runtime } from './runtime.js';

export interface OutgoingRequest {
  url: string;
  method: string;
  headers: Headers;
  body: string | undefined;
}

export interface Limits {
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Sends a request once and reads the complete response.
 *
 * @throws the signal's reason on abort, immediately, even if `fetch` ignores the signal
 * @throws {PetStoreConnectionError} if the response is missing or incomplete
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  { url, method, headers, body }: OutgoingRequest,
  { timeoutMs, signal }: Limits,
  runtime: Runtime,
): Promise<BufferedResponse> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let reject!: (reason: unknown) => void;
  const interrupted = new Promise<never>((_, rejectPromise) => (reject = rejectPromise));
  interrupted.catch(() => undefined);
  const interrupt = (reason: unknown): void => {
    reject(reason);
    controller.abort(reason);
  };
  const onAbort = (): void => interrupt(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const cancelTimer = runtime.after(timeoutMs, () =>
    interrupt(new PetStoreTimeoutError(timeoutMs)),
  );
  const send = async (): Promise<BufferedResponse> => {
    // Following a redirect would send the key to another address, and turn a POST into a GET.
    const init: RequestInit = { method, headers, redirect: 'manual', signal: controller.signal };
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    return { response, text: await response.text() };
  };
  try {
    return await Promise.race([send(), interrupted]);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof PetStoreTimeoutError) throw error;
    throw new PetStoreConnectionError(`No response to ${method} ${url}`, { cause: error });
  } finally {
    cancelTimer();
    signal?.removeEventListener('abort', onAbort);
  }
}
