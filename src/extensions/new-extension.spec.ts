import { existsSync } from 'node:fs';
import { getMetadataArgsStorage } from 'typeorm';
import '../app.module.js';
import { faultOfName, NewExtensionError, OUR_TABLES, writeExtension } from './new-extension.js';

describe('petstore new extension', () => {
  it.each([
    'Orders',
    'storeOrders',
    '3-orders',
    'store_orders',
    'store-',
    '-store',
    '../store',
    '.',
    '',
    'a'.repeat(41),
    'pets',
    'usage',
    'pet',
    'api-keys',
    'migrations',
    'sqlite-toys',
    'pg-class',
    'typeorm',
    'typescript',
    'pet-store-service',
    'type-orm',
    'define',
  ])('refuses to call one "%s"', (name) => {
    expect(faultOfName(name)).toMatch(/^(?:the name of an extension must|an extension cannot)/);
    expect(() => writeExtension(name, 0)).toThrow(NewExtensionError);
    if (name !== '' && name !== '.') expect(existsSync(name)).toBe(false);
  });

  it.each(['class', 'new', 'constructor', 'store', 'keys', 'health', 'store-orders', 'a1-2b'])(
    'is content with the name %s',
    (name) => expect(faultOfName(name)).toBeUndefined(),
  );

  it('knows the tables of the service', () => {
    const tables = getMetadataArgsStorage().tables.map(({ name }) => name);
    expect(tables.length).toBeGreaterThan(5);
    expect(OUR_TABLES).toEqual(expect.arrayContaining(tables));
  });
});
