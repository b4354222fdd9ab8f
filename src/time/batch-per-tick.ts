/**
 * Collects the items of one event-loop tick and handles them together at its end: one transaction or one packet for
 * many items costs little more than for one.
 * @param handle receives all items of the tick in their order, at least one
 * @param most items per tick; further items wait for the next tick
 * @returns adds an item to the batch of the current tick
 */
export function batchPerTick<Item>(
  handle: (items: Item[]) => void,
  most = Infinity,
): (item: Item) => void {
  let items: Item[] = [];
  const flush = (): void => {
    const batch = items;
    items = batch.length > most ? batch.splice(most) : [];
    if (items.length > 0) setImmediate(flush);
    handle(batch);
  };
  return (item) => {
    if (items.push(item) === 1) setImmediate(flush);
  };
}
