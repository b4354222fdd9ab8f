import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A code block of a guide, and the file that the paragraph above it names last. */
export interface Block {
  /** What the guide says since the block before. */
  prose: string;
  file: string | undefined;
  kind: string;
  code: string;
}

/** The code blocks of a guide, in its order. */
export function blocksOf(guide: string): Block[] {
  const blocks = guide.matchAll(/(.*?)^```(\w+)\n(.*?)^```$/gms);
  return Array.from(blocks, ([, prose = '', kind = '', code = '']) => {
    const [, file] = /`([^`\n]+)`[^`]*:\n\n$/.exec(prose) ?? [];
    return { prose, file, kind, code };
  });
}

/**
 * Applies the edit of a block: a `diff` in one place of an existing file, `ts` as a new file.
 * @returns the path of the file
 */
export function applyEdit({ file: path = '', kind, code }: Block, directory: string): string {
  const file = join(directory, path);
  if (kind === 'ts') {
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, code);
    return path;
  }
  const parts = readFileSync(file, 'utf8').split(linesOf(code, '-'));
  expect({ path, places: parts.length - 1 }).toEqual({ path, places: 1 });
  writeFileSync(file, parts.join(linesOf(code, '+')));
  return path;
}

/** The lines of a diff before (`-`) or after (`+`) the change. */
function linesOf(diff: string, sign: '-' | '+'): string {
  const lines = diff.match(/.*\n/g) ?? [];
  return lines
    .filter((line) => ['\n', ' ', sign].includes(line[0]!))
    .map((line) => (line === '\n' ? line : line.slice(1)))
    .join('');
}
