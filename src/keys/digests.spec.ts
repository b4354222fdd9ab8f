import { createHash } from 'node:crypto';
import { digestOf, Digests } from './digests.js';

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
