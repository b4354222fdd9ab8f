/** A value that is here at once where the engine is synchronous: a promise costs more than a short read. */
export type Eventual<Value> = Value | Promise<Value>;

/** What `use` makes of the value, as soon as it is here. */
export function whenHere<Value, Result>(
  value: Eventual<Value>,
  use: (value: Value) => Result,
): Eventual<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}
