import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StuckPipe } from '../../test/support/stuck-pipe.js';
import { createLogger, lineBase, LineBuffer, requestLine } from './logger.js';

describe(createLogger.name, () => {
  it.each(['json', 'pretty'] as const)('writes %s', async (logFormat) => {
    const logger = await createLogger({ logLevel: 'silent', logFormat });
    logger.info({ a: 1 }, 'nobody hears it');
    logger.flush();
  });
});

describe(LineBuffer.name, () => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-log-'));
  const path = join(directory, 'log');
  const fd = openSync(path, 'a');
  const buffer = new LineBuffer(fd);
  const text = () => readFileSync(path, 'utf8');
  afterAll(() => {
    closeSync(fd);
    rmSync(directory, { recursive: true });
  });

  it('keeps lines for a moment, whole and in their order', () => {
    buffer.write('first\n');
    buffer.write('zw\u00f6lf \u{1f43e}\n');
    expect(text()).toBe('');
    buffer.flushSync();
    expect(text()).toBe('first\nzw\u00f6lf \u{1f43e}\n');
  });

  it('lets the service go on where nothing can be written, as on a full disk', () => {
    const unwritable = openSync(path, 'r');
    const full = new LineBuffer(unwritable);
    const line = `${'x'.repeat(10_000)}\n`;
    for (let count = 0; count < 5_000; count++) full.write(line);
    full.flush();
    full.flushSync();
    full.write(line);
    full.flush();
    // Which closes it.
    full.end();
  });

  it('holds no more memory than there are lines that wait for a reader', () => {
    using pipe = new StuckPipe();
    const unread = new LineBuffer(pipe.fd);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 20_000; count++) {
      unread.write('a line of its own\n');
      unread.flush();
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    // As behind a `fatal`, after which others are told of.
    unread.flushSync();
    unread.write('a line of its own\n');
    unread.flush();
    unread.end();
  });

  it('loses nothing of what is more than it holds', () => {
    const before = text();
    const long = `${'x'.repeat(20_000)}\n`;
    const lines = Array.from({ length: 500 }, (_none, index) => `${index} ${'y'.repeat(100)}\n`);
    const sent = [...lines, long, ...lines];
    for (const line of sent) buffer.write(line);
    buffer.flushSync();
    expect(text()).toBe(before + sent.join(''));
  });
});

const record = {
  requestId: 'a-1',
  keyId: 'key_1',
  operation: 'listPets',
  method: 'GET',
  status: 200,
  durationMs: 1.25,
};

const base = lineBase({ service: 's', version: '1' });

describe(requestLine.name, () => {
  it('is one line of JSON that tells all that is known of a request', () => {
    const line = requestLine(record, 1_700_000_000_000, base);
    expect(line.endsWith('}\n')).toBe(true);
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      time: 1_700_000_000_000,
      service: 's',
      version: '1',
      ...record,
      msg: 'request',
    });
  });

  it('has no key where nobody knows whose the request is', () => {
    const line = JSON.parse(requestLine({ ...record, keyId: undefined }, 0, base)) as object;
    expect(line).not.toHaveProperty('keyId');
  });

  it('says of a refused one why, and who asked for what', () => {
    const refused = { ...record, path: '/v1/pets/:petId', code: 'a "guest"', address: '192.0.2.1' };
    expect(JSON.parse(requestLine(refused, 0, base))).toMatchObject(refused);
  });

  it('survives any name that a handler can have', () => {
    const operation = 'say "hi"\n';
    expect(JSON.parse(requestLine({ ...record, operation }, 0, base))).toMatchObject({ operation });
  });
});
