import { createHash } from 'node:crypto';
import { passBy } from '../../test/support/pass-by.js';
import { SharedNames } from '../rate-limits/names.js';
import { CallerKind, CallerTable, digestOf, Digests, KnownCaller } from './caller-table.js';

const CAPACITY = 1_600;
const both = 'pets:read pets:write';

describe(CallerTable.name, () => {
  let names: SharedNames;
  let table: CallerTable;
  beforeEach(() => {
    names = new SharedNames();
    table = new CallerTable(CAPACITY, names);
  });
  afterEach(() => jest.restoreAllMocks());

  const callerOf = (keyId: string, kind = new CallerKind('pro', both, 300, 10_000)) =>
    new KnownCaller(keyId, keyId, kind, Infinity, 1_000);
  const fill = (count: number) => {
    for (let each = 0; each < count; each++)
      table.set(digestOf(`d${each}`), callerOf(`key_${each}`));
  };

  it('keeps callers as they are, by digests', () => {
    const zoo = new KnownCaller(
      'key_zoo',
      'client of a zoo\n',
      new CallerKind('enterprise', 'pets:read', 1_000_000_000_000, 7),
      1_767_225_600_123,
      1_767_225_600_001,
    );
    const ark = new KnownCaller('key_ark', 'key_ark', zoo.kind, 0, 2);
    const owl = callerOf('key_owl');
    for (const caller of [zoo, ark, owl]) table.set(digestOf(`of ${caller.keyId}`), caller);
    for (const caller of [zoo, ark, owl])
      expect(table.get(digestOf(`of ${caller.keyId}`))).toEqual(caller);
    expect(table.get(digestOf('of key_zo'))).toBeUndefined();
  });

  it('keeps of a caller what it was set to last', () => {
    table.set(digestOf('zoo'), callerOf('key_zoo'));
    const changed = new KnownCaller(
      'key_zoo',
      'another client',
      new CallerKind('free', 'pets:read', 60, 1_000),
      5,
      2_000,
    );
    table.set(digestOf('zoo'), changed);
    expect(table.get(digestOf('zoo'))).toEqual(changed);
  });

  it('keeps the names of its callers, whoever passes by', async () => {
    const kind = new CallerKind('pro', both, 300, 10_000);
    const rotated = new KnownCaller('key_new', 'key_first', kind, Infinity, 1_000);
    table.set(digestOf('rotated'), rotated);
    fill(1_500);
    await passBy(names);
    expect(table.get(digestOf('rotated'))).toEqual(rotated);
    for (let each = 0; each < 1_500; each++)
      expect(table.get(digestOf(`d${each}`))!.keyId).toBe(`key_${each}`);
  });

  it('makes what many have in common once', () => {
    fill(2);
    expect(table.get(digestOf('d0'))!.scopes).toBe(table.get(digestOf('d1'))!.scopes);
    expect(table.get(digestOf('d0'))!.quota.limits).toBe(table.get(digestOf('d1'))!.quota.limits);
  });

  it('keeps so many, and forgets whoever has been there longest', () => {
    fill(CAPACITY + 100);
    expect(table.get(digestOf('d99'))).toBeUndefined();
    expect(table.get(digestOf('d100'))).toEqual(callerOf('key_100'));
    table.set(digestOf('d0'), callerOf('key_0'));
    expect(table.get(digestOf('d100'))).toBeUndefined();
    for (let each = 101; each < CAPACITY + 100; each++) {
      expect(table.get(digestOf(`d${each}`))?.keyId).toBe(`key_${each}`);
    }
    expect(table.get(digestOf('d0'))?.keyId).toBe('key_0');
  });

  it('lets few newcomers in where it is nearly full', () => {
    const random = jest.spyOn(Math, 'random');
    fill(CAPACITY * (15 / 16) - 1);
    random.mockReturnValue(0.99);
    expect(table.letsIn()).toBe(true);
    table.set(digestOf('last'), callerOf('key_last'));
    expect(table.letsIn()).toBe(false);
    random.mockReturnValue(0.124);
    expect(table.letsIn()).toBe(true);
  });

  it('forgets everyone, and remembers whoever comes then', () => {
    fill(2_000);
    table.clear();
    expect(table.get(digestOf('d1999'))).toBeUndefined();
    expect(table.letsIn()).toBe(true);
    fill(3);
    expect(table.get(digestOf('d2'))).toEqual(callerOf('key_2'));
  });

  it('shows of a caller what guests are told of it, and nothing of the table', () => {
    const members = ['keyId', 'clientId', 'expiresAtMs', 'plan', 'scopes', 'quota'];
    expect(Object.keys(callerOf('key_zoo')).toSorted()).toEqual(members.toSorted());
  });

  it('forgets everyone rather than to keep ever more kinds', () => {
    const kindOf = (perMinute: number) => new CallerKind('pro', both, perMinute, 10_000);
    for (let each = 0; each < 10_000; each++)
      table.set(digestOf('zoo'), callerOf('key_zoo', kindOf(each)));
    table.set(digestOf('owl'), callerOf('key_owl', kindOf(9_999)));
    expect(table.get(digestOf('zoo'))?.quota.limits.perMinute).toBe(9_999);
    table.set(digestOf('ark'), callerOf('key_ark', kindOf(10_000)));
    expect(table.get(digestOf('zoo'))).toBeUndefined();
    expect(table.get(digestOf('ark'))).toEqual(callerOf('key_ark', kindOf(10_000)));
  });
});

describe(Digests.name, () => {
  let digests: Digests;
  beforeEach(() => (digests = new Digests()));

  const of = (number: number) => digestOf(`key ${number}`);

  it('gives rows in the order in which they come, and finds them again', () => {
    for (let number = 0; number < 5_000; number++) {
      expect(digests.find(of(number))).toBeUndefined();
      expect(digests.add(of(number))).toBe(number);
    }
    for (let number = 0; number < 5_000; number++) expect(digests.find(of(number))).toBe(number);
    expect(digests.find(of(5_000))).toBeUndefined();
    expect(digests.size).toBe(5_000);
  });

  it('tells apart those of which any one bit of the first 180 differs', () => {
    const bits = Buffer.from(of(0), 'base64url');
    digests.add(of(0));
    for (let bit = 0; bit < 180; bit++) {
      const other = Buffer.from(bits);
      other[bit >> 3]! ^= 0x80 >> (bit & 7);
      expect(digests.find(other.toString('base64url'))).toBeUndefined();
      expect(digests.add(other.toString('base64url'))).toBe(bit + 1);
    }
    expect(digests.find(of(0))).toBe(0);
  });

  it('keeps in each row what was put there last', () => {
    const rows: number[] = [];
    for (let number = 0; number < 2_000; number++) rows[digests.add(of(number))] = number;
    for (let number = 2_000; number < 20_000; number++) {
      const row = (number * 7_919) % 2_000;
      digests.replace(row, of(number));
      expect(digests.find(of(rows[row]!))).toBeUndefined();
      rows[row] = number;
    }
    for (const [row, number] of rows.entries()) expect(digests.find(of(number))).toBe(row);
    expect(digests.size).toBe(2_000);
  });
});

describe(digestOf.name, () => {
  it('is SHA-256', () => {
    expect(digestOf('psk_x')).toBe(createHash('sha256').update('psk_x').digest('base64url'));
  });
});
