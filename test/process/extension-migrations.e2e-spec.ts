import { describeWith } from '../support/engines.js';
import { PostgresServer } from '../support/postgres.js';
import { workplaceWithOrders } from '../support/workplace-with-orders.js';

const CREATE_PETS = 'CreatePets1764633600000 of pets';
const CREATE_ORDERS = 'CreateOrders1764720000000 of store-orders';
const OWN = ['CreateSchema1764633600000', CREATE_PETS];
const NO_EXTENSION = ['--config', 'none.js'];

describe('the migrations of an extension', () => {
  it("runs an extension's migrations after the service's own, and migrate prints the extension", async () => {
    using workplace = workplaceWithOrders();
    const { migrations } = await workplace.json('migrate');
    expect(migrations).toEqual([...OWN, CREATE_ORDERS]);
    expect(await workplace.json('migrate')).toEqual({ migrations: [] });
  });

  describeWith('postgres', 'on PostgreSQL', (initdb) => {
    it("an extension's pending migration stops the start, with the name of the extension", async () => {
      await using server = await PostgresServer.start(initdb);
      using workplace = workplaceWithOrders({ DATABASE_URL: await server.createDatabase() });
      workplace.write('none.js', 'export default { extensions: [] }');
      const behind = (names: string) =>
        `error: the database schema lacks ${names}; run "petstore migrate" first\n`;
      expect((await workplace.run('serve')).stderr).toContain(
        behind([...OWN, CREATE_ORDERS].join(', ')),
      );
      await workplace.json('migrate', ...NO_EXTENSION);
      const { code, stderr } = await workplace.run('serve');
      expect(code).toBe(1);
      expect(stderr).toContain(behind(CREATE_ORDERS));
      expect((await workplace.run('migrate')).stdout).toBe(`Ran ${CREATE_ORDERS}.\n`);
      const found = (await workplace.run('doctor', ...NO_EXTENSION)).stdout;
      expect(found).toContain(`unknown migrations: ${CREATE_ORDERS}`);
      const served = await workplace.serve();
      expect(await served.stop()).toBe(0);
    });
  });
});
