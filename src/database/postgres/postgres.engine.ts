import type { OnApplicationShutdown } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { Engine, type PoolState } from '../engine.js';
import { noteOfConnection } from '../outage.js';
import type { Parameter, Statement, Work } from '../statement.js';
import { assertOutsideTransaction } from '../transactions.js';
import { OwnConnection } from './own-connection.js';
import type { PostgresDataSource } from './postgres.data-source.js';
import { PostgresLookUps } from './postgres.look-ups.js';
import { PostgresReader } from './postgres.reader.js';
import { asked, POSTGRES, PostgresStatements } from './postgres.statements.js';
import { transact } from './postgres.transaction.js';
import { PostgresWrites } from './postgres.writes.js';

const guarded = new WeakSet<PoolClient>();

/**
 * An error of a connection reaches whoever waits for an answer on it. One that comes when nobody does, as
 * after a query that was given up, would end the process.
 */
function outliveErrors(client: PoolClient): void {
  if (guarded.has(client)) return;
  guarded.add(client);
  client.on('error', noteOfConnection);
}

/** PostgreSQL, on the connection pool of TypeORM, with named prepared statements. */
export class PostgresEngine extends Engine implements OnApplicationShutdown {
  private readonly statements = new PostgresStatements();
  private readonly observer: OwnConnection;
  private readonly pinger: OwnConnection;
  private answer: Promise<unknown> | undefined;
  private readonly reader = new PostgresReader(() => this.connections);
  private readonly lookUps = new PostgresLookUps((query, toValue) =>
    this.reader.read(query, toValue),
  );
  private readonly writes = new PostgresWrites(
    (work) => transact(this.connections, this.statements, work),
    (units) => this.onCommit?.(units),
  );

  constructor(private readonly dataSource: PostgresDataSource) {
    super();
    const { url } = dataSource.options as PostgresDataSourceOptions;
    this.observer = new OwnConnection(url!, 'observer');
    this.pinger = new OwnConnection(url!, 'readiness');
    this.connections.on('acquire', outliveErrors);
  }

  query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    const prepared = this.statements.of(statement);
    const { one, toValue, isNumbered } = prepared;
    if (isNumbered) return this.lookUps.find(prepared, parameters) as Promise<Row[]>;
    return this.reader.read(asked(one, parameters), toValue) as Promise<Row[]>;
  }

  async first<Row>(
    statement: Statement<Row>,
    ...parameters: Parameter[]
  ): Promise<Row | undefined> {
    const [row] = await this.query(statement, ...parameters);
    return row;
  }

  async write<Result>(work: () => Work<Result>): Promise<Result> {
    assertOutsideTransaction();
    return this.writes.write(work);
  }

  observe<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    return this.observer.read<Row>(statement.text(POSTGRES), parameters);
  }

  /** Of a table: another database under that name, as an empty one, is not ours. */
  async ping(): Promise<void> {
    const asked = 'SELECT 1 FROM api_keys LIMIT 1';
    this.answer ??= this.pinger.read(asked, []).finally(() => (this.answer = undefined));
    await this.answer;
  }

  pool(): PoolState {
    const { totalCount, idleCount, waitingCount } = this.connections;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  onApplicationShutdown(): void {
    this.observer.close();
    this.pinger.close();
  }

  private get connections(): Pool {
    return this.dataSource.pool;
  }
}
