/**
 * The action of Swagger UI that opens an operation. Its creator would change the address as well.
 */
const show = (thing, shown) => ({ type: 'layout_show', payload: { thing, shown } });

/** On paper, all operations are open. */
export function openForPrint(ui, spec) {
  const operations = Object.entries(spec.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { tags: [tag = 'default'] = [], operationId }]) => ({
      place: ['paths', path, method],
      things: [
        ['operations-tag', tag],
        ['operations', tag, operationId],
      ],
    })),
  );
  // An operation opens without delay only if it is resolved.
  for (const { place } of operations) ui.specActions.requestResolvedSubtree(place);

  const things = operations.flatMap((each) => each.things);
  let opened = [];
  addEventListener('beforeprint', () => {
    // Tags are open unless the reader closed them.
    opened = things.filter((thing) => !ui.layoutSelectors.isShown(thing, thing.length === 2));
    for (const thing of opened) ui.getStore().dispatch(show(thing, true));
  });
  addEventListener('afterprint', () => {
    for (const thing of opened) ui.getStore().dispatch(show(thing, false));
  });
}
