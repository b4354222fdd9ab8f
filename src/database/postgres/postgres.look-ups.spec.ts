import { Statement } from '../statement.js';
import { PostgresLookUps } from './postgres.look-ups.js';
import { PostgresStatements, type Query } from './postgres.statements.js';

const FIND = new Statement<{ name: string }>(
  'pets.by-name',
  () => 'SELECT name FROM pets WHERE name = $1',
  undefined,
  {
    columns: { name: 'text' },
    text: (given) => `SELECT name, place FROM ${given} JOIN pets USING (name)`,
    isNumbered: true,
  },
);

describe(PostgresLookUps.name, () => {
  const prepared = new PostgresStatements().of(FIND);
  let asked: Query[];
  let answer: (query: Query) => unknown[];
  let lookUps: PostgresLookUps;
  const isMany = ({ name }: Query): boolean => name === 'pets.by-name.many';
  const failure = (code: string): Error => Object.assign(new Error(code), { code });

  beforeEach(() => {
    asked = [];
    lookUps = new PostgresLookUps((query) => {
      asked.push(query);
      return new Promise((resolve) => resolve(answer(query)));
    });
  });

  it('asks once for all of a turn, and gives each what it asked for', async () => {
    answer = () => [
      { place: '3', name: 'Rex' },
      { place: '1', name: 'Luna' },
    ];
    const found = ['Luna', 'nobody', 'Rex'].map((name) => lookUps.find(prepared, [name]));
    expect(await Promise.all(found)).toMatchObject([[{ name: 'Luna' }], [], [{ name: 'Rex' }]]);
    expect(asked).toMatchObject([
      { name: 'pets.by-name.many', values: [['Luna', 'nobody', 'Rex']] },
    ]);
  });

  it('gives what a row is to become where that is JSON', async () => {
    const find = Statement.ofJson(
      'pets.find',
      [{ name: 'id', column: 'id', type: 'integer' }],
      (json) => `SELECT ${json} FROM pets WHERE id = $1`,
      { ...FIND.many!, columns: { id: 'bigint' } },
    );
    const json = new PostgresStatements().of(find);
    answer = () => [
      ['9', '2'],
      ['7', '1'],
    ];
    const found = [7, 9].map((id) => lookUps.find(json, [id]));
    expect(await Promise.all(found)).toEqual([['{"id":7}'], ['{"id":9}']]);
  });

  it('asks for one alone as for any other', async () => {
    answer = () => [{ name: 'Rex' }];
    expect(await lookUps.find(prepared, ['Rex'])).toEqual([{ name: 'Rex' }]);
    expect(asked).toMatchObject([{ name: 'pets.by-name', values: ['Rex'] }]);
  });

  it('fails one alone that fails', async () => {
    answer = (query) => {
      if (isMany(query) || query.values?.[0] === 'bad') throw failure('22P02');
      return [{ name: query.values?.[0] }];
    };
    const found = ['Rex', 'bad', 'Luna'].map((name) => lookUps.find(prepared, [name]));
    expect(await Promise.allSettled(found)).toMatchObject([
      { status: 'fulfilled', value: [{ name: 'Rex' }] },
      { status: 'rejected', reason: { code: '22P02' } },
      { status: 'fulfilled', value: [{ name: 'Luna' }] },
    ]);
  });

  it('has nobody wait once more for a database that is away', async () => {
    answer = () => {
      throw failure('ECONNREFUSED');
    };
    const found = ['Rex', 'Luna'].map((name) => lookUps.find(prepared, [name]));
    const reasons = (await Promise.allSettled(found)).map(({ status }) => status);
    expect(reasons).toEqual(['rejected', 'rejected']);
    expect(asked).toHaveLength(1);
  });
});
