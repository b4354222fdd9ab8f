/**
 * Whether a JSON Schema takes a list.
 * @param whole what its references are within
 */
export function isListSchema(
  schema: unknown,
  whole: unknown,
  above: readonly unknown[] = [],
): boolean {
  // What refers to itself says no more than it has said.
  if (typeof schema !== 'object' || schema === null || above.includes(schema)) return false;
  const { type, anyOf, oneOf, allOf, $ref } = schema as Record<string, unknown>;
  if (type === 'array' || (Array.isArray(type) && type.includes('array'))) return true;
  const others: unknown[] = [anyOf, oneOf, allOf].filter(Array.isArray).flat();
  if (typeof $ref === 'string') others.push(referredTo($ref, whole));
  return others.some((each) => isListSchema(each, whole, [...above, schema]));
}

/** What a reference within one document means (RFC 6901); undefined for any other, or of nothing. */
function referredTo(reference: string, whole: unknown): unknown {
  const [document, ...segments] = reference.split('/');
  if (document !== '#') return undefined;
  return segments.reduce<unknown>((within, segment) => {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    return (within as Record<string, unknown> | null | undefined)?.[name];
  }, whole);
}
