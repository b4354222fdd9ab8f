import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Workplace } from '../support/petstore-process.js';

describe('standard output', () => {
  const workplace = new Workplace();
  let full: number;
  beforeAll(() => (full = openSync('/dev/full', 'w')));
  afterAll(() => {
    closeSync(full);
    workplace.remove();
  });

  it('a slow reader gets the whole result of a command', async () => {
    // The document is larger than the buffer of the pipe.
    const command = `"${process.execPath}" dist/src/main.js openapi | (sleep 4; cat)`;
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0' });
  });

  it('a command fails with one line if the disk is full', async () => {
    const child = workplace.start(['openapi'], {}, full);
    const closed = once(child, 'close');
    expect(await text(child.stderr!)).toMatch(
      /^error: cannot write to standard output \(ENOSPC[^\n]+\)\n$/,
    );
    expect(await closed).toEqual([1, null]);
  });
});
