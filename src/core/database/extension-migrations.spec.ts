import { describeMigration, ownedMigrations } from './extension-migrations.js';

class CreateToys1700000000000 {
  up = () => Promise.resolve();
  down = () => Promise.resolve();
}
class Named {
  readonly name = 'CreateBalls1600000000000';
  up = () => Promise.resolve();
  down = () => Promise.resolve();
}

const namesOf = (owner: string) =>
  ownedMigrations({ owner, migrations: [CreateToys1700000000000, Named] }).map(
    (Migration) => new Migration().name!,
  );

describe(ownedMigrations.name, () => {
  it('prefixes names with the owner', () => {
    expect(namesOf('toys').map(describeMigration)).toEqual([
      'CreateToys1700000000000 of toys',
      'CreateBalls1600000000000 of toys',
    ]);
    expect(describeMigration('CreateSchema1764633600000')).toBe('CreateSchema1764633600000');
    expect(new Set([...namesOf('toys'), ...namesOf('balls')]).size).toBe(4);
  });

  it('orders them after all migrations of the service, in their own order', () => {
    const [toys, balls] = namesOf('toys').map((name) => Number(name.slice(-13)));
    expect(toys).toBeGreaterThan(balls!);
    expect(balls).toBeGreaterThan(Date.parse('2100-01-01'));
  });
});
