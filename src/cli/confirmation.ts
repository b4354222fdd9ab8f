import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

interface Terminal {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean };
}
const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

/** Whether a person can reply to a prompt; false in a script. */
export function isInteractive({ input, output } = TERMINAL): boolean {
  return Boolean(input.isTTY && output.isTTY);
}

/**
 * Asks for confirmation on a terminal; does nothing in a script or with `--yes`.
 * @throws unless the answer is yes
 */
export async function confirm(question: string, yes = false, terminal = TERMINAL): Promise<void> {
  if (yes || !isInteractive(terminal)) return;
  const lines = createInterface(terminal);
  terminal.output.write(`${question} [y/N] `);
  for await (const reply of lines) {
    lines.close();
    if (/^y(es)?$/i.test(reply.trim())) return;
    break;
  }
  throw new Error('aborted (use --yes to skip this prompt)');
}
