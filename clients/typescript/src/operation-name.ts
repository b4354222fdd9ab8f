/** `request('GET', '/pets')` is reported under the same name as `listPets()`. */
const OWN_OPERATIONS: readonly (readonly [RegExp, string])[] = [
  [/^(GET|HEAD) \/pets$/, 'listPets'],
  [/^POST \/pets$/, 'createPet'],
  [/^(GET|HEAD) \/pets\/[^/]+$/, 'getPet'],
  [/^(GET|HEAD) \/usage$/, 'getUsage'],
  [/^(GET|HEAD) \/usage\/history$/, 'getUsageHistory'],
  [/^(GET|HEAD) \/key$/, 'getKey'],
  [/^POST \/key\/rotate$/, 'rotateKey'],
  [/^DELETE \/key$/, 'revokeKey'],
];

/**
 * Names an operation for hooks: its own name, or method and path. A path segment that contains a
 * digit (a number, a UUID) or percent-encoding is assumed to be an identifier, and becomes `{id}`.
 *
 * @param target path and query below the base URL
 */
export function nameOperation(method: string, target: string): string {
  const [path = ''] = target.split(/[?#]/);
  const name = `${method} ${path}`;
  const own = OWN_OPERATIONS.find(([pattern]) => pattern.test(name));
  return own?.[1] ?? `${method} ${path.replace(/[^/]*[\d%][^/]*/g, '{id}')}`;
}
