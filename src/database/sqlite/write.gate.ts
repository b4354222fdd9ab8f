/**
 * Lets the writers of this process at the database one after the other, in the order in which they came:
 * two connections that try for SQLite's lock by themselves starve each other, or stand still for it.
 */
export class WriteGate {
  private readonly waiting: (() => void)[] = [];
  private isTaken = false;
  private readonly listeners: (() => void)[] = [];

  /** Calls `listener` whenever a writer is done, before the next one comes. */
  onLeave(listener: () => void): void {
    this.listeners.push(listener);
  }

  get state(): { isTaken: boolean; waiting: number } {
    return { isTaken: this.isTaken, waiting: this.waiting.length };
  }

  /** Whether it was free; it is then taken. */
  tryEnter(): boolean {
    if (this.isTaken) return false;
    return (this.isTaken = true);
  }

  /** Resolves once it is this one's turn. */
  async enter(): Promise<void> {
    if (!this.tryEnter()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  leave(): void {
    for (const listener of this.listeners) listener();
    const next = this.waiting.shift();
    if (next === undefined) this.isTaken = false;
    else next();
  }
}
