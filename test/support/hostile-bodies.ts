import type { Random } from './random.js';

/** A body and its header fields, with valid framing. */
export interface HostileBody {
  fields: string[];
  bytes: Buffer;
}

const words = (text: string): string[] => text.split(' ');

const NUMBERS = [
  ...words('0 -0 1.0 1.5 1e400 -1e-400 1E5 01 +1 .5 1. 0x1 - NaN Infinity 9007199254740993'),
  ...words('9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809'),
  '9'.repeat(5_000),
  `1e${'9'.repeat(99)}`,
];
const STRINGS = [
  ...words('"" "Rex" "\\u0000" "\\ud800" "\\udc00\\ud800" "\\x" "\\u12" "\u{1f415}" "</script>"'),
  ...['" "', '"a\nb"', "'Rex'", '"\u202e\ufeff"', `"${'n'.repeat(256)}"`],
];
const OTHERS = [...words('null true True undefined [] {} [1,] {"a":1,} { }'), ''];
const VALUES = [...NUMBERS, ...STRINGS, ...OTHERS];
const NAMES = [
  ...words('name categoryId status id __proto__ constructor toString NAME n\\u0061me'),
  '',
];
const TYPES = [
  ...words(
    'Application/JSON application/json; application/jsonp text/plain application/xml ; \xff',
  ),
  ...words('utf-8 utf-16 "utf-8" "utf-8";charset=x').map(
    (set) => `application/json; charset=${set}`,
  ),
  ...['application/json; =', 'application/json, text/plain', 'multipart/form-data; boundary=x', ''],
  `application/json; a="${'\\"'.repeat(500)}"`,
  `application/json${' '.repeat(2_000)};x`,
  `application/json${' ; '.repeat(500)}!`,
];
const MEMBERS = { name: '"name":"Rex"', categoryId: '"categoryId":7', status: '"status":"sold"' };

/** @param likely probability of a body */
export function hostileBody(random: Random, likely: number): HostileBody {
  if (!random.chance(likely)) return { fields: [], bytes: Buffer.alloc(0) };
  const type = random.chance(0.75) ? 'application/json' : random.pick(TYPES);
  const fields = random.chance(0.05) ? [] : [`Content-Type: ${type}`];
  if (random.chance(0.05)) fields.push('Content-Type: text/plain');
  const coding = random.pick(['gzip', 'identity', 'br, gzip', '']);
  if (random.chance(0.05)) fields.push(`Content-Encoding: ${coding}`);
  const content = contentOf(random);
  if (random.chance(0.6)) {
    return { fields: [...fields, `Content-Length: ${content.length}`], bytes: content };
  }
  fields.push(random.pick(['Transfer-Encoding: chunked', 'transfer-encoding:  CHUNKED']));
  return { fields, bytes: inChunks(random, content) };
}

function contentOf(random: Random): Buffer {
  const text = random.oneOf(
    () => animal(random),
    () => random.pick(VALUES),
    () => `[${animal(random)},${animal(random)}]`,
    () => `\ufeff${animal(random)}`,
    () => nested(random),
    () => `{${random.times(random.below(3_000), (index) => `"m${index}":${index}`).join()}}`,
    () => `{"name":"${'x'.repeat(60_000 + random.below(12_000))}","categoryId":1}`,
    () => ' '.repeat(random.pick([1, 65_535, 65_536, 65_537, 150_000])),
  );
  return random.oneOf(
    () => Buffer.from(text),
    () => Buffer.from(text),
    () => Buffer.from(animal(random)),
    () => Buffer.from(animal(random), 'utf16le'),
    () => spoilt(random, Buffer.from(animal(random))),
    () => random.bytes(random.below(300)),
  );
}

function animal(random: Random): string {
  const members = Object.entries(MEMBERS).map(([name, good]) => {
    if (random.chance(0.75)) return good;
    return `"${random.chance(0.3) ? random.pick(NAMES) : name}":${random.pick(VALUES)}`;
  });
  if (random.chance(0.1)) members.push(random.pick(members));
  if (random.chance(0.3)) members.pop();
  return `{${members.join(random.chance(0.9) ? ',' : random.pick([',,', ';', ' ', '\u00a0,']))}}`;
}

function nested(random: Random): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"name":[', ']}'],
  ] as const);
  const levels = random.below(60_000 / (open.length + close.length));
  return `${open.repeat(levels)}1${close.repeat(random.chance(0.7) ? levels : random.below(levels))}`;
}

/** Corrupts UTF-8 or JSON. */
function spoilt(random: Random, text: Buffer): Buffer {
  for (let time = random.below(4); time >= 0; time--) {
    text[random.below(text.length)] = random.pick([0, 0x22, 0x5c, 0x7b, 0x80, 0xc0, 0xed, 0xf5]);
  }
  return text;
}

function inChunks(random: Random, content: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < content.length;) {
    const wanted = parts.length > 200 ? content.length : 1 + random.below(random.pick([3, 70_000]));
    const chunk = content.subarray(start, start + wanted);
    const extension = random.pick(['', '', ';a', ';a=b', ';a="b;c"']);
    parts.push(
      Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    );
    start += chunk.length;
  }
  const trailers = random.pick([
    '',
    '',
    'X-Trailer: x\r\n',
    'Authorization: Bearer x\r\nHost: y\r\n',
  ]);
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailers}\r\n`)]);
}
