/**
 * Lets the writers of this process write one after the other, first come, first served. Two connections that compete
 * for SQLite's own lock starve each other.
 */
export class Mutex {
  private readonly queue: (() => void)[] = [];
  private isHeld = false;

  /** Called after each holder, before the next one. */
  onRelease = (): void => undefined;

  get state(): { isHeld: boolean; waiting: number } {
    return { isHeld: this.isHeld, waiting: this.queue.length };
  }

  async acquire(): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.isHeld = true;
  }

  release(): void {
    this.onRelease();
    const next = this.queue.shift();
    if (next === undefined) this.isHeld = false;
    else next();
  }
}
