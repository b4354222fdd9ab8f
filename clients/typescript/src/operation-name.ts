/** Whoever asks for one of ours by its path, as with `request`, asks for the same operation. */
const OURS: readonly (readonly [RegExp, string])[] = [
  [/^(GET|HEAD) \/pets$/, 'listPets'],
  [/^POST \/pets$/, 'createPet'],
  [/^(GET|HEAD) \/pets\/[^/]+$/, 'getPet'],
  [/^(GET|HEAD) \/usage$/, 'getUsage'],
];

/**
 * The name of one of ours, or method and path. A part of the path that has a digit, as a number or a UUID, or that
 * is percent-encoded, names one thing of many, and becomes `{id}`.
 * @param target below the base address, as it is sent
 */
export function nameOperation(method: string, target: string): string {
  const [path = ''] = target.split(/[?#]/);
  const name = `${method} ${path}`;
  const ours = OURS.find(([pattern]) => pattern.test(name));
  return ours?.[1] ?? `${method} ${path.replace(/[^/]*[\d%][^/]*/g, '{id}')}`;
}
