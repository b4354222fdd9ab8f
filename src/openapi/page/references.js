/** The value of a JSON Pointer in the form of a fragment (RFC 6901, section 6). */
function valueAt(spec, reference) {
  const tokens = decodeURIComponent(reference.slice(2)).split('/');
  return tokens.reduce(
    (value, token) => value?.[token.replaceAll('~1', '/').replaceAll('~0', '~')],
    spec,
  );
}

/** @param within references that lead here: a schema may contain itself */
function resolve(value, spec, within = []) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => resolve(item, spec, within));
  const { $ref } = value;
  if (typeof $ref === 'string' && $ref.startsWith('#/') && !within.includes($ref)) {
    const target = resolve(valueAt(spec, $ref), spec, [...within, $ref]);
    // Swagger UI shows the name in `$$ref`.
    return { ...target, ...value, $ref: undefined, $$ref: $ref };
  }
  const entries = Object.entries(value).map(([name, item]) => [name, resolve(item, spec, within)]);
  const { allOf, ...members } = Object.fromEntries(entries);
  // Nest writes a reference beside other members so.
  if (allOf?.length === 1) return { ...allOf[0], ...members };
  return allOf === undefined ? members : { allOf, ...members };
}

/**
 * Plugin of Swagger UI: resolves the references of one operation. Its own resolver reads the whole
 * document for each operation, and once at the start, which takes a second or more.
 */
export function References() {
  const requestResolvedSubtree = (_original, { specActions, specSelectors }) => {
    return (path) => {
      const spec = specSelectors.specJson();
      const resolved = resolve(spec.getIn(path)?.toJS(), spec.toJS());
      return specActions.updateResolvedSubtree(path, resolved);
    };
  };
  return { statePlugins: { spec: { wrapActions: { requestResolvedSubtree } } } };
}
