import { errors } from '../errors/errors.js';

/** Scopes by name, each with a sentence on what it allows. */
type DeclaredScopes = Readonly<Record<string, string>>;

/** An extension, as far as its scopes go. */
export interface DeclaresScopes {
  readonly scopes?: DeclaredScopes;
  readonly defaultScopes?: readonly string[];
}

const SCOPE = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/;

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

/** The scopes that extensions declare. A key can have no other. */
export class Scopes {
  readonly declared: DeclaredScopes;
  /** The scopes of a key that is issued without a list of scopes. */
  readonly defaults: readonly string[];

  constructor(extensions: readonly DeclaresScopes[]) {
    const tables = extensions.map(({ scopes }) => scopes);
    this.declared = Object.assign({}, ...tables) as DeclaredScopes;
    this.defaults = extensions.flatMap(({ defaultScopes = [] }) => defaultScopes);
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
