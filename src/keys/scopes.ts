import { errors } from '../errors/errors.js';

/** Scopes by name, each with a sentence on what it allows. */
export type DeclaredScopes = Readonly<Record<string, string>>;

/** An extension, as far as its scopes go. */
export interface DeclaresScopes {
  readonly scopes?: DeclaredScopes;
}

const OWN_SCOPES: DeclaredScopes = {
  'pets:read': 'Read pets.',
  'pets:write': 'Add pets.',
  'key:rotate': 'Rotate the key itself.',
};
/** The scopes of a key that is issued without any. */
export const DEFAULT_SCOPES: readonly string[] = ['pets:read', 'pets:write'];

const SCOPE = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/;

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

/** The scopes that the service and its extensions declare. A key can have no other. */
export class Scopes {
  readonly declared: DeclaredScopes;

  constructor(extensions: readonly DeclaresScopes[]) {
    const ofExtensions = extensions.map(({ scopes }) => scopes);
    this.declared = Object.assign({}, OWN_SCOPES, ...ofExtensions) as DeclaredScopes;
  }

  has(scope: string): boolean {
    return Object.hasOwn(this.declared, scope);
  }

  /** @throws {ApiError} 400 `invalid_request` with the undeclared scopes */
  assertDeclared(scopes: readonly string[]): void {
    const unknown = scopes.filter((scope) => !this.has(scope));
    if (unknown.length === 0) return;
    const known = Object.keys(this.declared).join(', ');
    throw errors.invalid_request(
      `unknown scope ${unknown.join(', ')}; declared scopes are ${known}`,
    );
  }
}
