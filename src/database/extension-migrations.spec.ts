import type { QueryRunner } from 'typeorm';
import { ownedMigrations, ownerOf } from './extension-migrations.js';

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
    expect(namesOf('toys').map(ownerOf)).toEqual([
      { owner: 'toys', name: 'CreateToys1700000000000' },
      { owner: 'toys', name: 'CreateBalls1600000000000' },
    ]);
    expect(ownerOf('CreateSchema1764633600000')).toEqual({
      owner: undefined,
      name: 'CreateSchema1764633600000',
    });
    expect(new Set([...namesOf('toys'), ...namesOf('balls')]).size).toBe(4);
  });

  it('orders them after all migrations of the service, in their own order', () => {
    const [toys, balls] = namesOf('toys').map((name) => Number(name.slice(-13)));
    expect(toys).toBeGreaterThan(balls!);
    expect(balls).toBeGreaterThan(Date.parse('2100-01-01'));
  });
});

it('a failing migration is named in the error, with its extension', async () => {
  class Broken1700000000000 {
    up(): Promise<void> {
      return Promise.reject(new Error('no such table: toys'));
    }
    down = () => Promise.resolve();
  }
  const [Migration] = ownedMigrations({ owner: 'toys', migrations: [Broken1700000000000] });
  await expect(new Migration!().up({} as QueryRunner)).rejects.toThrow(
    'The migration Broken1700000000000 of toys failed: no such table: toys',
  );
});
