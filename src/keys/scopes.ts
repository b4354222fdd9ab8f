import { KeyRequestError } from './key-request.js';

/** Scopes by their names, with what they allow. */
export type DeclaredScopes = Readonly<Record<string, string>>;

/** Those of the service's own operations. */
const OWN: DeclaredScopes = {
  'pets:read': 'Read animals.',
  'pets:write': 'Add animals.',
};
/** What a key may where nothing else was asked for. */
export const DEFAULT_SCOPES: readonly string[] = Object.keys(OWN);

const SCOPE = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/;

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

/** Every scope that somebody has declared, with its meaning: a key can have no other. */
export class Scopes {
  readonly declared: DeclaredScopes;

  /** @param further those of extensions */
  constructor(further: readonly DeclaredScopes[] = []) {
    this.declared = Object.assign({}, OWN, ...further) as DeclaredScopes;
  }

  has(scope: string): boolean {
    return Object.hasOwn(this.declared, scope);
  }

  /** @throws {KeyRequestError} naming each that nobody has declared */
  assertDeclared(scopes: readonly string[]): void {
    const unknown = scopes.filter((scope) => !this.has(scope));
    if (unknown.length === 0) return;
    const known = Object.keys(this.declared).join(', ');
    throw new KeyRequestError(
      `Nobody declares the scope ${unknown.join(', ')}; there are ${known}`,
    );
  }
}
