/** Members that may stand beside a reference: nothing has to be merged. */
const ANNOTATIONS = new Set(
  'title summary description default example examples deprecated readOnly writeOnly'.split(' '),
);

/** The value of a JSON Pointer in the form of a fragment (RFC 6901, section 6). */
function valueAt(spec, reference) {
  const tokens = decodeURIComponent(reference.slice(2)).split('/');
  return tokens.reduce(
    (value, token) => value?.[token.replaceAll('~1', '/').replaceAll('~0', '~')],
    spec,
  );
}

/**
 * @param within references that lead here: a schema may contain itself
 * @throws {Error} for what Nest does not write
 */
function resolve(value, spec, within = []) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => resolve(item, spec, within));
  const { $ref, allOf, ...own } = value;
  if (typeof $ref === 'string') {
    if (within.includes($ref)) throw new Error(`${$ref} contains itself`);
    const target = resolve(valueAt(spec, $ref), spec, [...within, $ref]);
    // Swagger UI shows the name in `$$ref`.
    return { ...annotate(target, own), $$ref: $ref };
  }
  if (Array.isArray(allOf)) {
    if (allOf.length !== 1) throw new Error('allOf has to be merged');
    return annotate(resolve(allOf[0], spec, within), own);
  }
  const entries = Object.entries(value).map(([name, item]) => [name, resolve(item, spec, within)]);
  return Object.fromEntries(entries);
}

function annotate(target, annotations) {
  const isMerged = Object.keys(annotations).some((name) => !ANNOTATIONS.has(name));
  if (typeof target !== 'object' || target === null) throw new Error('a target is missing');
  if (isMerged) throw new Error('members have to be merged');
  return { ...target, ...annotations };
}

/**
 * Plugin of Swagger UI: resolves what the page shows, if it is as Nest writes it. The resolver of
 * Swagger UI, which remains for everything else, reads the whole document for each operation and
 * once at the start, which takes a second or more.
 */
export const references = (spec) => () => {
  const requestResolvedSubtree =
    (original, { specActions }) =>
    (path) => {
      let resolved;
      try {
        const value = path.reduce((part, name) => part?.[name], spec);
        resolved = resolve(value, spec);
      } catch {
        return original(path);
      }
      return specActions.updateResolvedSubtree(path, resolved);
    };
  return { statePlugins: { spec: { wrapActions: { requestResolvedSubtree } } } };
};
