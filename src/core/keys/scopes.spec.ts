import { isScope, Scopes } from './scopes.js';

describe(isScope.name, () => {
  it.each(['pets:read', 'orders:read', 'store-orders:bulk-write2'])('takes %s', (scope) => {
    expect(isScope(scope)).toBe(true);
  });

  // Scopes are stored in one text, separated by spaces: one that holds a space would be two.
  it.each([
    '',
    'pets',
    'pets:',
    ':read',
    'pets:read ',
    'pets:read pets:write',
    'pets:read,pets:write',
    'pets:read\n',
    'Pets:read',
    'pets:read:all',
    'pets:*',
    '*',
    '-pets:read',
  ])('rejects %p', (scope) => {
    expect(isScope(scope)).toBe(false);
  });
});

describe(Scopes.name, () => {
  const scopes = new Scopes([
    {
      scopes: { 'pets:read': 'Read pets.', 'pets:write': 'Add pets.' },
      defaultScopes: ['pets:read'],
    },
    { scopes: { 'orders:read': 'Read orders.' } },
    { scopes: { 'toys:read': 'Read toys.' }, defaultScopes: ['toys:read'] },
  ]);

  it('has the default scopes of every extension', () => {
    expect(scopes.defaults).toEqual(['pets:read', 'toys:read']);
  });

  it.each(['pets:read', 'pets:write', 'orders:read'])('knows %s', (scope) => {
    expect(scopes.has(scope)).toBe(true);
    scopes.assertDeclared([scope]);
  });

  it.each(['orders:write', 'toString', '__proto__'])('does not know %s', (scope) => {
    expect(scopes.has(scope)).toBe(false);
    expect(() => scopes.assertDeclared(['pets:read', scope])).toThrow(scope);
  });
});
