import { nameOperation } from './operation-name.js';

describe(nameOperation.name, () => {
  it.each([
    ['GET', '/pets', 'listPets'],
    ['GET', '/pets?limit=1', 'listPets'],
    ['POST', '/pets', 'createPet'],
    ['GET', '/pets/1', 'getPet'],
    ['HEAD', '/pets/-8', 'getPet'],
    ['GET', '/pets/Rex', 'getPet'],
    ['GET', '/usage', 'getUsage'],
    ['GET', '/usage/history?hours=2', 'getUsageHistory'],
    ['GET', '/key', 'getKey'],
    ['POST', '/key/rotate', 'rotateKey'],
    ['DELETE', '/key', 'revokeKey'],
  ])('names %s %s %s', (method, target, operation) =>
    expect(nameOperation(method, target)).toBe(operation),
  );

  it.each([
    ['/things/1?x=1', '/things/{id}'],
    ['/things/2?x=1#a', '/things/{id}'],
    ['/things/-8', '/things/{id}'],
    ['/things/3d6f1f0e-7c1b-4b52-9d3c-0b1f0f3a5f10/parts/a7', '/things/{id}/parts/{id}'],
    ['/things/caf%C3%A9/', '/things/{id}/'],
    ['/things', '/things'],
    ['/pets/1/things', '/pets/{id}/things'],
  ])('replaces identifiers in %s', (target, path) =>
    expect(nameOperation('PUT', target)).toBe(`PUT ${path}`),
  );
});
