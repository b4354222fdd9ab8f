import { crc32 } from 'node:zlib';
import { ADMIN_PREFIX, isWellFormedKey, mintId, mintKey } from './api-key-format.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe(mintKey.name, () => {
  it('mints psk_, 256 bits in base62, and the CRC-32 of all before it in base62', () => {
    for (let round = 0; round < 200; round++) {
      const key = mintKey();
      expect(key).toMatch(/^psk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
      let checksum = 0;
      for (const digit of key.slice(-6)) checksum = checksum * 62 + DIGITS.indexOf(digit);
      expect(checksum).toBe(crc32(key.slice(0, -6)));
      expect(isWellFormedKey(key)).toBe(true);
    }
  });

  it('never mints the same twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, mintKey)).size).toBe(1_000);
    expect(new Set(Array.from({ length: 1_000 }, () => mintId('key'))).size).toBe(1_000);
  });
});

describe(isWellFormedKey.name, () => {
  // Made by Python's zlib.crc32, so that no fault is shared with the subject.
  it.each([
    ['of zeros', 'psk_00000000000000000000000000000000000000000004K3v2N'],
    ['of every kind of digit', 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg19M8OS'],
    ['whose checksum is padded', 'psk_000000000000000000000000000000000000000030200QAfa'],
  ])('takes a key %s', (_what, key) => expect(isWellFormedKey(key)).toBe(true));

  it('rejects a key with one character changed, wherever that is', () => {
    const key = mintKey();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  it('rejects a token of the admin API, which needs its own prefix', () => {
    const token = mintKey(ADMIN_PREFIX);
    expect(isWellFormedKey(token)).toBe(false);
    expect(isWellFormedKey(token, ADMIN_PREFIX)).toBe(true);
    expect(isWellFormedKey(mintKey(), ADMIN_PREFIX)).toBe(false);
  });

  it.each([
    ['another prefix', 'pst_', 43],
    ['no prefix', '', 43],
    ['a digit fewer', 'psk_', 42],
    ['a digit more', 'psk_', 44],
    ['a character that is no digit', 'psk_-', 42],
  ])('rejects %s with the right checksum', (_what, start, zeros) => {
    const body = start + '0'.repeat(zeros);
    let [rest, checksum] = [crc32(body), ''];
    for (; checksum.length < 6; rest = Math.floor(rest / 62))
      checksum = DIGITS[rest % 62] + checksum;
    expect(isWellFormedKey(body + checksum)).toBe(false);
  });

  it.each(['', 'psk_', 'x'.repeat(53), `${mintKey()}0`, ` ${mintKey()}`, `${mintKey()}\n`])(
    'rejects %p',
    (text) => expect(isWellFormedKey(text)).toBe(false),
  );
});
