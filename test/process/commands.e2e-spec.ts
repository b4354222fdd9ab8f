import { Client } from '../support/client.js';
import { workplaceWithOrders } from '../support/workplace-with-orders.js';

describe('petstore orders', () => {
  it('closes expired orders while the server runs', async () => {
    using workplace = workplaceWithOrders();
    const served = await workplace.serve();
    const issue = ['--name', 'z', '--plan', 'pro', '--scopes', 'pets:read,pets:write,orders:write'];
    const { key } = await workplace.json('keys', 'issue', ...issue);
    const client = new Client(served.origin, key);
    const rex = { name: 'Rex', categoryId: 7, status: 'available' };
    const { id: petId } = (await client.post('/v1/pets', rex)).json();
    await client.post('/v1/store/orders', { petId, quantity: 1 });

    expect(await workplace.run('orders', 'close-expired')).toEqual({
      code: 0,
      stdout: 'Cancelled 0 orders.\n',
      stderr: '',
    });
    const hours = ['--hours', '0.000001'];
    expect(await workplace.json('orders', 'close-expired', ...hours)).toEqual({ cancelled: 1 });
    expect((await client.get(`/v1/pets/${petId}`)).json().status).toBe('available');

    expect(await workplace.run('orders', 'close')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: usage: petstore orders close-expired [--hours N] [--json]\n',
    });
    expect((await workplace.run('--help')).stdout).toMatch(
      /\nCommands of store-orders:\n {2}orders .* close-expired/,
    );
    client.close();
    expect(await served.stop()).toBe(0);
  });
});
