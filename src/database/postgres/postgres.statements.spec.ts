import { Statement } from '../statement.js';
import { PostgresStatements } from './postgres.statements.js';

describe(PostgresStatements.name, () => {
  const statements = new PostgresStatements();

  it('prepares a statement under its name, once', () => {
    const statement = new Statement('pets.count', () => 'SELECT count(*) FROM pets');
    expect(statements.of(statement).one.name).toBe('pets.count');
    expect(statements.of(statement)).toBe(statements.of(statement));
  });

  it('keeps no plan of one that is to be planned each time', () => {
    const statement = Statement.plannedEachTime('records.find', () => 'SELECT 1');
    expect(statements.of(statement).one).toEqual({ name: undefined, text: 'SELECT 1' });
  });
});
