/** Calls `load` once and keeps its result. After a failure, the next caller calls it again. */
export function memoizeAsync<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined;
  return () => {
    result ??= load().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
