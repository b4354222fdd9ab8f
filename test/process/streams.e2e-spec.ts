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

  it.each([
    ['keys', ['issue', '--name', 'Zoo', '--plan', 'free']],
    ['admin', ['issue', '--name', 'ann']],
  ])('a full disk leaves no secret that nobody knows of: %s %j', async (group, args) => {
    await workplace.run('migrate');
    const child = workplace.start([group, ...args], {}, full);
    const closed = once(child, 'close');
    const err = await text(child.stderr!);
    expect(await closed).toEqual([1, null]);
    const [, undo] = /^error: the secret was issued, .*; run petstore (.+)$/m.exec(err)!;
    expect((await workplace.run(...undo!.split(' '), '--yes')).code).toBe(0);
    const list = (await workplace.json(group, 'list')) as { id: string; revokedAt: unknown }[];
    const issued = list.find((each) => undo!.endsWith(each.id));
    expect(issued?.revokedAt).toEqual(expect.any(String));
  });

  it.each(['0s', '1h'])(
    'a full disk leaves a client a key when its key is rotated with a grace of %s',
    async (grace) => {
      await workplace.run('migrate');
      const { id } = await workplace.json('keys', 'issue', '--name', 'Zoo', '--plan', 'free');
      const child = workplace.start(['keys', 'rotate', id as string, '--grace', grace], {}, full);
      const closed = once(child, 'close');
      const err = await text(child.stderr!);
      expect(await closed).toEqual([1, null]);
      const [, redo, lost] = /; run petstore (keys rotate (\w+) .+)$/m.exec(err)!;
      const { key } = await workplace.json(...redo!.split(' '));
      expect(key).toMatch(/^psk_/);
      const { expiresAt } = await workplace.json('keys', 'show', lost!);
      expect(Date.parse(expiresAt as string)).toBeLessThanOrEqual(Date.now());
    },
  );
});
