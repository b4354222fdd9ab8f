import { InvalidArgumentError } from 'commander';
import * as parse from './arguments.js';

const DAY_MS = 86_400_000;
const [TOMORROW] = new Date(Date.now() + 2 * DAY_MS).toISOString().split('T');

describe('command-line arguments', () => {
  it.each<[keyof typeof parse, string, unknown]>([
    ['quantity', '1', 1],
    ['quantity', '1000000000000', 1e12],
    ['days', '36500', 36_500],
    ['keyName', ' Tierpark Schönbrunn 🦁', ' Tierpark Schönbrunn 🦁'],
    ['keyName', 'x'.repeat(255), 'x'.repeat(255)],
    ['packageName', 'store-orders-1a', 'store-orders-1a'],
    ['scopes', 'pets:read, store-orders:read2,pets:read', ['pets:read', 'store-orders:read2']],
    ['expiry', '2050-12-05', Date.parse('2050-12-05T00:00:00Z')],
    ['expiry', '2050-12-05T10:20Z', Date.parse('2050-12-05T10:20:00Z')],
    ['expiry', '2050-12-05T23:30:00.123-02:00', Date.parse('2050-12-06T01:30:00.123Z')],
    ['expiry', '2048-02-29', Date.parse('2048-02-29T00:00:00Z')],
    ['expiry', TOMORROW!, Date.parse(TOMORROW!)],
    ['duration', '0s', 0],
    ['duration', '90s', 90_000],
    ['duration', '15m', 900_000],
    ['duration', '24h', DAY_MS],
    ['duration', '365d', 365 * DAY_MS],
  ])('%s accepts %j', (name, text, value) => expect(parse[name](text)).toEqual(value));

  it.each<[keyof typeof parse, string[]]>([
    ['quantity', ['', '0', '-1', '+1', '01', '1.0', '1e3', ' 1', 'x', '1000000000001']],
    ['days', ['', '0', '01', '36501', '1000000000000']],
    ['keyName', ['', ' ', '\t', 'a\nb', 'a\u001b[2Jb', 'a\u009b2Jb', 'x'.repeat(256)]],
    ['keyName', [`psk_${'a'.repeat(49)}`]],
    ['keyName', ['a\u2028b', 'a\u202eb', 'a\u2066b']],
    ['file', ['', ' ', 'backups/']],
    ['packageName', ['', 'Orders', '3-orders', 'a_b', 'a-', '../a', 'x'.repeat(41)]],
    [
      'packageName',
      'v1 pet account usage key docs define typeorm type-orm class-validator pet-store-service'.split(
        ' ',
      ),
    ],
    ['scopes', ['', ',', 'pets:read,']],
    ['scopes', [Array.from({ length: 300 }, (_none, n) => `a:b${n}`).join(',')]],
    ['expiry', ['', 'soon', '2050', '2050-13-01', '2050-02-30', '2050-12-05T10:20:30']],
    ['expiry', ['2050-12-05 10:20:30Z', '2050-12-05T25:00:00Z', '2050000000', '2020-01-01']],
    ['duration', ['', '5', 'h', '1w', '1.5h', '-1h', '1h30m', '1 h', '1H', '366d']],
  ])('%s rejects %j', (name, texts) => {
    for (const text of texts) expect(() => parse[name](text)).toThrow(InvalidArgumentError);
  });
});
