import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Database, type PoolState } from './database.js';
import { POSTGRES, SQLITE } from './dialects.js';
import type { Dialect, Parameter, Statement, Work } from './statement.js';

/** The former port of the database, over TypeORM, for the rooms that still use it. */
@Injectable()
export class Engine {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    return this.ask(this.dataSource.manager, statement, parameters) as Promise<Row[]>;
  }

  async first<Row>(
    statement: Statement<Row>,
    ...parameters: Parameter[]
  ): Promise<Row | undefined> {
    return (await this.query(statement, ...parameters))[0];
  }

  async write<Result>(work: () => Work<Result>): Promise<Result> {
    return this.dataSource.transaction(async (manager) => {
      const unit = work();
      let step = unit.next();
      while (!step.done) {
        const rows = await this.ask(manager, step.value.statement, step.value.parameters);
        step = unit.next(rows);
      }
      return step.value;
    });
  }

  observe<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    const text = statement.text(this.dialect);
    const own = { name: statement.name, sqlite: text, postgres: text };
    return this.database.observe(own, ...parameters);
  }

  ping(): Promise<void> {
    return this.database.ping();
  }

  pool(): PoolState {
    return this.database.pool();
  }

  private get isSqlite(): boolean {
    return this.dataSource.options.type !== 'postgres';
  }

  private get dialect(): Dialect {
    return this.isSqlite ? SQLITE : POSTGRES;
  }

  private async ask(
    manager: EntityManager,
    statement: Statement,
    parameters: readonly Parameter[],
  ): Promise<unknown[]> {
    const text = statement.text(this.dialect);
    const runner = manager.queryRunner ?? this.dataSource.createQueryRunner();
    try {
      const own = this.isSqlite ? text.replace(/\$\d+/g, '?') : text;
      return (await runner.query(own, [...parameters], true)).records as unknown[];
    } finally {
      if (runner !== manager.queryRunner) await runner.release();
    }
  }
}
