import { DEFAULT_SCOPES, isScope } from './scopes.js';

describe(isScope.name, () => {
  it.each([...DEFAULT_SCOPES, 'orders:read', 'store-orders:bulk-write2'])('takes %s', (scope) => {
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
  ])('refuses %p', (scope) => {
    expect(isScope(scope)).toBe(false);
  });
});
