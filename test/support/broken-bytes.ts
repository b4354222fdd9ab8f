import type { Random } from './random.js';

const FIELDS = [
  ...['5', '-1', '+5', '0x10', '5, 5', '9'.repeat(20), ''].map(
    (value) => `Content-Length: ${value}`,
  ),
  ...['chunked', 'gzip, chunked', 'chunked, identity', 'xchunked', '\tchunked'].map(
    (value) => `Transfer-Encoding: ${value}`,
  ),
  ...[
    'Transfer-Encoding : chunked',
    ' folded: x',
    '\tfolded',
    'No colon',
    ': no name',
    'N\xe4me: x',
  ],
  ...['Na\x00me: x', 'X: a\x00b', 'X: a\rb', 'X: a\nHost: b', 'X: \x7f\x01', 'Connection: \x02'],
  ...[`X: ${'x'.repeat(17_000)}`, 'Connection: close'],
];
const CHUNKS = [
  ...['-1\r\n', 'zz\r\n', 'ffffffffffffffffff\r\n', '5\nabcde\n', '3\r\nabcdef\r\n', '\r\n'],
  ...['1;\x00\r\na\r\n', '0\r\nX: \x01\r\n\r\n', '1 \r\na\r\n', '0x1\r\na\r\n'],
  '0\r\nContent-Length: 1\r\n\r\n',
];
const NO_HTTP = [
  ...['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ...[
    '\r\n\r\n\r\n',
    '\n',
    '\x00',
    '*1\r\n$4\r\nPING\r\n',
    'HELO x\r\n',
    'HTTP/1.1 200 OK\r\n\r\n',
  ],
  ...['GET  /v1/pets', 'get /v1/pets', 'GET v1/pets', 'GET ?x', 'GET http://', 'GET http://['].map(
    (start) => `${start} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ),
  ...['GET /v1/\x00', 'GET /v1/\xe9', 'BREW /', `GET /${'a'.repeat(20_000)}`].map(
    (start) => `${start} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ),
  ...['', ' HTTP/0.9', ' HTTP/1.0', ' HTTP/1.1 x', ' HTTP/2.0', ' HTTP/1.1\rX'].map(
    (end) => `GET /v1/pets${end}\r\n\r\n`,
  ),
  'GET / HTTP/1.1\nHost: x\n\n',
];
const INTERESTING = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x25, 0x2c, 0x2f, 0x30, 0x3a, 0x3b, 0x7f, 0xff];

/** Corrupts a well-formed request. */
export function broken(random: Random, bytes: Buffer): Buffer {
  if (random.chance(0.15)) {
    const start = Buffer.from(random.pick(NO_HTTP), 'latin1');
    return Buffer.concat([start, random.chance(0.5) ? bytes : random.bytes(random.below(50))]);
  }
  let result = bytes;
  for (let time = random.below(3); time >= 0; time--) result = brokenOnce(random, result);
  return result;
}

function brokenOnce(random: Random, bytes: Buffer): Buffer {
  const at = random.below(Math.min(bytes.length, 1_500));
  const headEnd = bytes.indexOf('\r\n\r\n') + 2;
  const replaced = (start: number, end: number, by: Buffer | string): Buffer =>
    Buffer.concat([
      bytes.subarray(0, start),
      typeof by === 'string' ? Buffer.from(by, 'latin1') : by,
      bytes.subarray(end),
    ]);
  return random.oneOf(
    () => bytes.subarray(0, at),
    () => replaced(at, at + 1, Buffer.from([random.pick(INTERESTING)])),
    () => replaced(at, at + 1, Buffer.from([(bytes[at] ?? 0) ^ (1 << random.below(8))])),
    () => replaced(at, at + random.below(60), ''),
    () => replaced(at, at, bytes.subarray(at, at + random.below(60))),
    () => replaced(at, at, random.bytes(1 + random.below(20))),
    () => replaced(headEnd, headEnd, `${random.pick(FIELDS)}\r\n`),
    () =>
      replaced(headEnd, bytes.length, `Transfer-Encoding: chunked\r\n\r\n${random.pick(CHUNKS)}`),
  );
}
