/**
 * Values that are made once, when they are first asked for. One that could not be made, as where no file can be
 * opened for a moment, is made again for who asks next.
 */
export class Remembered<Key, Value> {
  private readonly made = new Map<Key, Promise<Value>>();

  get(key: Key, make: () => Promise<Value>): Promise<Value> {
    let value = this.made.get(key);
    if (value === undefined) {
      value = make().catch((error: unknown) => {
        this.made.delete(key);
        throw error;
      });
      this.made.set(key, value);
    }
    return value;
  }
}
