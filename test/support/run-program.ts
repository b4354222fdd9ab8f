import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';

/** `petstore ARGV` in this process: its exit code, and what it wrote to standard output and standard error. */
export async function runInProcess(
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const output = new Output(
    (text) => void (said.out += text),
    (text) => void (said.err += text),
  );
  return { code: await runProgram(argv, output), ...said };
}
