import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';

export type { Finding } from '../../src/cli/doctor.findings.js';
export { Output, runProgram };

export interface InProcessResult {
  code: number;
  out: string;
  err: string;
}

/** Runs `petstore ARGV` in this process. */
export async function runInProcess(...argv: string[]): Promise<InProcessResult> {
  const written = { out: '', err: '' };
  const output = new Output(
    (text, done) => {
      written.out += typeof text === 'string' ? text : Buffer.from(text).toString('latin1');
      done?.();
    },
    (text) => (written.err += text),
  );
  return { code: await runProgram(argv, output), ...written };
}

/** Runs `petstore ARGV --json` in this process on a database; it must succeed. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test asserts the shape
export async function jsonInProcess(databaseUrl: string, ...argv: string[]): Promise<any> {
  const { DATABASE_URL } = process.env;
  process.env['DATABASE_URL'] = databaseUrl;
  try {
    const { code, out, err } = await runInProcess(...argv, '--json');
    if (code !== 0) throw new Error(`petstore ${argv.join(' ')}: exit code ${code}: ${err}`);
    return JSON.parse(out) as unknown;
  } finally {
    if (DATABASE_URL === undefined) delete process.env['DATABASE_URL'];
    else process.env['DATABASE_URL'] = DATABASE_URL;
  }
}
