import { passBy } from '../../test/support/pass-by.js';
import { SharedNames } from '../rate-limits/shared-names.js';
import { HourCounts } from './hour-counts.js';

describe(HourCounts.name, () => {
  let names: SharedNames;
  let counts: HourCounts;
  beforeEach(() => {
    names = new SharedNames();
    counts = new HourCounts(7, 'node', names);
  });

  const count = (clientId: string, status: number, code?: string): void =>
    counts.countUp(counts.find(clientId, status, code) ?? counts.add(clientId, status, code ?? ''));

  it('tells apart clients, statuses and codes', () => {
    for (let round = 0; round < 3; round++) {
      count('zoo', 200);
      count('zoo', 409, 'taken');
    }
    count('zoo', 201);
    count('ark', 200);
    const told = Array.from({ length: 4 }, (_none, row) => counts.at(row));
    expect(told.map(({ clientId, status, code, used }) => [clientId, status, code, used])).toEqual([
      ['zoo', 200, '', 3],
      ['zoo', 409, 'taken', 3],
      ['zoo', 201, '', 1],
      ['ark', 200, '', 1],
    ]);
    expect(told.every(({ hour, writer }) => hour === 7 && writer === 'node')).toBe(true);
    expect([counts.clientCount, counts.outcomeCountOf('zoo')]).toEqual([2, 3]);
    expect([counts.outcomeCountOf('owl'), counts.find('owl', 200, undefined)]).toEqual([
      0,
      undefined,
    ]);
  });

  it('takes a refusal by its code, whatever the status', () => {
    count('zoo', 409, 'taken');
    count('zoo', 422, 'taken');
    expect(counts.at(0)).toMatchObject({ status: 409, code: 'taken', used: 2 });
    expect(counts.find('zoo', 409, undefined)).toBeUndefined();
  });

  it('has room for any number of clients, and keeps those that came first', () => {
    for (let round = 1; round <= 2; round++) {
      for (let client = 0; client < 5_000; client++) count(`c${client}`, 200);
    }
    expect(counts.clientCount).toBe(5_000);
    for (const client of [0, 1_023, 1_024, 4_999]) {
      expect(counts.at(client)).toMatchObject({ clientId: `c${client}`, used: 2 });
    }
  });

  it('tells which rows wait, however many there are, until they are told of', () => {
    for (let client = 0; client < 5_000; client++) count(`c${client}`, 200);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[], true]);
    counts.markUnbrought([4_999, 7, 7]);
    count('another', 200);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[7, 4_999], false]);
    counts.unmark([7, 7, 8]);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[4_999], false]);
    counts.unmark([4_999]);
    expect([[...counts.unbrought()], counts.isDone]).toEqual([[], true]);
    counts.unsaved.add(1);
    expect(counts.isDone).toBe(false);
  });

  it('keeps the names of its clients, whoever passes by', async () => {
    for (let client = 0; client < 3_000; client++) count(`c${client}`, 200);
    await passBy(names);
    for (let client = 0; client < 3_000; client++) count(`c${client}`, 200);
    for (let row = 0; row < 3_000; row++) {
      expect(counts.at(row)).toMatchObject({ clientId: `c${row}`, used: 2 });
    }
    expect(counts.find('second_9', 200, undefined)).toBeUndefined();
  });

  it('cuts what is longer than the database keeps', () => {
    count('x'.repeat(200), 200);
    expect(counts.at(0).clientId).toBe('x'.repeat(64));
  });
});
