/**
 * Lets the writers of this process write one after the other, first come, first served. Two connections that compete
 * for SQLite's own lock starve each other.
 */
export class Mutex {
  private readonly queue: (() => void)[] = [];
  private readonly listeners: (() => void)[] = [];
  private isHeld = false;

  /** Calls `listener` after each holder, before the next one. */
  onRelease(listener: () => void): void {
    this.listeners.push(listener);
  }

  get state(): { isHeld: boolean; waiting: number } {
    return { isHeld: this.isHeld, waiting: this.queue.length };
  }

  /** @returns whether the mutex was free; the caller then holds it */
  tryAcquire(): boolean {
    if (this.isHeld) return false;
    return (this.isHeld = true);
  }

  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.queue.push(resolve));
  }

  release(): void {
    for (const listener of this.listeners) listener();
    const next = this.queue.shift();
    if (next === undefined) this.isHeld = false;
    else next();
  }
}
