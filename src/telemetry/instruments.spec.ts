import { counterFamily, Family } from './instruments.js';

describe(Family.name, () => {
  const make = () => ({ value: 0 });

  it('has one series for each combination of values, and tells them with their labels', () => {
    const family = new Family(['operation', 'status'], make);
    family.of('listPets', 200).value++;
    family.of('listPets', 404).value++;
    family.of('listPets', 200).value++;
    expect([...family]).toEqual([
      [{ operation: 'listPets', status: 200 }, { value: 2 }],
      [{ operation: 'listPets', status: 404 }, { value: 1 }],
    ]);
  });

  it('has a single series where there are no labels', () => {
    const family = new Family([], make);
    expect(family.of()).toBe(family.of());
    expect([...family]).toEqual([[{}, { value: 0 }]]);
  });

  it('counts together what is more than it may hold, whatever values are made up', () => {
    const family = new Family(['name', 'kind'], make, 3);
    for (let index = 0; index < 1_000; index++) family.of(`name ${index}`, index).value++;
    const all = [...family];
    expect(all).toHaveLength(4);
    expect(all.at(-1)).toEqual([{ name: 'other', kind: 'other' }, { value: 997 }]);
    expect(family.of('name 1', 1).value).toBe(1);
  });

  it('refuses more or fewer values than it has labels', () => {
    const family = new Family(['name'], make);
    expect(() => family.of()).toThrow('[name]');
    expect(() => family.of('one', 'two')).toThrow('is given 2');
  });
});

describe('a counter', () => {
  it('never falls, and stays a number', () => {
    const count = counterFamily({ name: 'visits_total', help: 'Visits.' }).of();
    for (const by of [0, 2.5]) count.add(by);
    for (const by of [-1, NaN, Infinity]) {
      expect(() => count.add(by)).toThrow(new RangeError(`visits_total cannot grow by ${by}`));
    }
    expect(count.value).toBe(2.5);
  });
});
