import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../../../test/support/eventually.js';
import { readBody } from './request-body.js';

const KIB = 1024;

function message(): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers: {} }) as never;
}

describe(readBody.name, () => {
  it('keeps the bytes of a body, not the memory of its chunks', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const sender = message();
    const body = readBody(sender, undefined, 64 * KIB);
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 1_000; count++) {
      // Node allocates more than the bytes of a chunk.
      sender.write(Buffer.alloc(100 * KIB, count).subarray(0, 1));
      await new Promise(setImmediate);
    }
    // V8 frees the memory of collected buffers in the background.
    await eventually(() => {
      collect();
      return Promise.resolve(process.memoryUsage().arrayBuffers - before < 10_000 * KIB);
    });
    sender.end();
    expect(await body).toEqual(Buffer.from(Array.from({ length: 1_000 }, (_, count) => count)));
  });

  it('accepts as many bytes as the limit, in chunks of any size, and no more', async () => {
    const text = 'ab'.repeat(50);
    for (const size of [1, 3, 64, 100]) {
      for (const [limit, isAccepted] of [
        [100, true],
        [99, false],
      ] as const) {
        const sender = message();
        const body = readBody(sender, undefined, limit).then(
          String,
          ({ code }: { code: string }) => code,
        );
        for (let at = 0; at < text.length; at += size) sender.write(text.slice(at, at + size));
        sender.end();
        expect([size, await body]).toEqual([size, isAccepted ? text : 'payload_too_large']);
      }
    }
  });
});
