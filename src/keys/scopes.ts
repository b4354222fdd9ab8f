/** The scopes of the service's own operations. Guest modules name their own, as `orders:read`. */
export const DEFAULT_SCOPES = ['pets:read', 'pets:write'] as const;

const SCOPE = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/;

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}
