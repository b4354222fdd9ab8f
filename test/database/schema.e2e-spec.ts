import { DataSource, type QueryRunner } from 'typeorm';
import { Pet } from '../../src/index.js';
import { connectTo, migrate, migrationsThatRan } from '../support/data-source.js';
import { describeWith } from '../support/engines.js';
import { createDatabase, PostgresServer } from '../support/postgres.js';
import { recordedLog } from '../support/recorded-log.js';
import { startAndClose, startService } from '../support/start-service.js';
import { TemporaryDirectory } from '../support/temporary-directory.js';

/** The statements that `typeorm migration:generate` would write. */
async function generated(dataSource: DataSource): Promise<string[]> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  return upQueries.map(({ query }) => query);
}

function describeSchema(newDatabase: () => string | Promise<string>): void {
  it('agrees with the entities', async () => {
    const env = { DATABASE_URL: await newDatabase() };
    await using service = await startService({ env, migrate: true });
    const dataSource = service.store.app.get(DataSource);
    // For the command line it is left out: see the test below.
    const metadata = dataSource.getMetadata(Pet);
    metadata.synchronize = true;
    // SQLite generates ids of the type INTEGER alone.
    const [id] = metadata.primaryColumns;
    if (dataSource.options.type === 'better-sqlite3') id!.type = 'integer';
    expect(await generated(dataSource)).toEqual([]);
  });

  it('has nothing to generate for an extension whose own data source has Pet', async () => {
    const url = await newDatabase();
    await (await startService({ env: { DATABASE_URL: url }, migrate: true })).close();
    const options = url.startsWith('sqlite:')
      ? { type: 'better-sqlite3' as const, database: url.slice('sqlite:'.length) }
      : { type: 'postgres' as const, url };
    const stock = await new DataSource({ ...options, entities: [Pet] }).initialize();
    expect(await generated(stock)).toEqual([]);
    await stock.destroy();
  });

  it('of another program ends the start, which logs no error of its own', async () => {
    const url = await newDatabase();
    const other = await connectTo(url, []);
    await other.query('CREATE TABLE pets (id integer)');
    await other.destroy();
    const { logger, lines } = recordedLog();
    const start = startAndClose({ env: { DATABASE_URL: url }, migrate: true, logger });
    const message = url.startsWith('sqlite:')
      ? / is not a database of this service; set DATABASE_URL to another file; or, .* restore BACKUP$/
      : /"pets" already exists/;
    await expect(start).rejects.toThrow(message);
    expect(lines.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([]);
  });

  it('reports which migration of which extension fails, and runs no other', async () => {
    class CreateToys1700000000000 {
      up = (runner: QueryRunner) => runner.query('CREATE TABLE api_keys (id integer)');
      down = () => Promise.resolve();
    }
    const extensions = [{ owner: 'toys', migrations: [CreateToys1700000000000] }];
    const dataSource = await connectTo(await newDatabase(), extensions);
    await expect(migrate(dataSource)).rejects.toThrow(
      /^The migration CreateToys1700000000000 of toys failed: .*"?api_keys"? already exists/,
    );
    expect(await migrationsThatRan(dataSource)).toEqual([]);
    await dataSource.destroy();
  });
}

describe('the schema on SQLite', () => {
  const directory = new TemporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());
  let databases = 0;
  describeSchema(() => `sqlite:${directory.path}/${databases++}.db`);
});

describeWith('postgres', 'the schema on PostgreSQL', (initdb) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(initdb);
  });
  afterAll(() => server.remove());
  describeSchema(() => createDatabase(server.url));
});
