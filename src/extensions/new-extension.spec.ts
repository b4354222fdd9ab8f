import { faultOfName } from './new-extension.js';

describe(faultOfName.name, () => {
  it.each([
    'Orders',
    'storeOrders',
    '3-orders',
    'store_orders',
    'store-',
    '../store',
    '',
    'a'.repeat(41),
    'pets',
    'usage',
    'pet',
    'sqlite-toys',
    'typeorm',
    'pet-store-service',
    'define',
  ])('rejects "%s"', (name) => {
    expect(faultOfName(name)).toMatch(/must be in kebab case|is reserved/);
  });

  it.each(['class', 'new', 'store', 'keys', 'health', 'migrations', 'store-orders', 'a1-2b'])(
    'accepts "%s"',
    (name) => expect(faultOfName(name)).toBeUndefined(),
  );
});
