/**
 * Closes resources at the end of the suite, in reverse order. After a failure it closes the
 * remaining ones, because an open resource keeps the run from ending.
 */
export function closedAtEnd(): <Resource extends AsyncDisposable | Disposable>(
  resource: Resource,
) => Resource {
  const opened: (AsyncDisposable | Disposable)[] = [];
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const resource of opened.reverse()) {
      try {
        if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
        else resource[Symbol.dispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }, 60_000);
  return (resource) => {
    opened.push(resource);
    return resource;
  };
}
