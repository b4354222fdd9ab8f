import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Where a person sits, if one does. */
export interface Terminal {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean };
}

const OURS: Terminal = { input: process.stdin, output: process.stderr };

/** Whether somebody can be asked: a script is not. */
export function isTerminal({ input, output } = OURS): boolean {
  return Boolean(input.isTTY && output.isTTY);
}

/**
 * Asks before something is lost for good, where there is somebody to ask.
 * @throws where the answer is not yes
 */
export async function confirm(question: string, yes = false, terminal = OURS): Promise<void> {
  if (yes || !isTerminal(terminal)) return;
  const lines = createInterface(terminal);
  const answer = await new Promise<string>((resolve) => {
    lines.question(`${question} [y/N] `, resolve);
    lines.once('close', () => resolve(''));
  });
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was done; --yes does not ask');
}
