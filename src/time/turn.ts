/**
 * Gathers what comes up in one turn of the event loop, and hands it on together at the turn's end: one
 * transaction, one packet, one wake-up costs little more for many than for one.
 */
export class Turn<Item> {
  private items: Item[] = [];

  /**
   * @param conclude given all items of the turn, in their order, never none
   * @param most of them in one turn; what is beyond waits for the next, ahead of what comes up until then
   */
  constructor(
    private readonly conclude: (items: Item[]) => void,
    public most = Infinity,
  ) {}

  add(item: Item): void {
    this.items.push(item);
    if (this.items.length === 1) setImmediate(this.end);
  }

  private readonly end = (): void => {
    const { items } = this;
    this.items = items.length > this.most ? items.splice(this.most) : [];
    if (this.items.length > 0) setImmediate(this.end);
    this.conclude(items);
  };
}
