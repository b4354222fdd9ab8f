import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Workplace } from '../support/petstore-process.js';
import { StuckPipe } from '../support/stuck-pipe.js';

// A process may take its time to start on a busy machine.
jest.setTimeout(180_000);
const START_MS = 60_000;

/** With it a server ends as after an error that nobody handled. */
const FAULTY = `process.once('SIGUSR2', () => { throw new Error('a fault') });
export default { extensions: [] };`;

/** A server that writes there; resolves once it serves. */
async function serve(
  workplace: Workplace,
  stdout: number,
  env: Record<string, string>,
  ...args: string[]
): Promise<{ child: ChildProcess; origin: string }> {
  const PORT = String(await freePort());
  const origin = `http://127.0.0.1:${PORT}`;
  const settings = { METRICS_PORT: '0', ...env, PORT };
  const child = workplace.start(['serve', ...args], settings, stdout);
  child.stderr!.resume();
  await eventually(
    () =>
      fetch(`${origin}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    START_MS,
  );
  return { child, origin };
}

describe('a server whose log nobody reads', () => {
  it.each([
    ['json', 'one process', []],
    ['pretty', 'one process', []],
    ['json', 'two workers', ['--workers', '2']],
    ['pretty', 'two workers', ['--workers', '2']],
  ])('serves, and ends on SIGTERM with 0: %s, %s', async (format, _of, args) => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    const { child } = await serve(workplace, pipe.fd, { LOG_FORMAT: format }, ...args);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it.each(['json', 'pretty'])('ends after an error that nobody handled: %s', async (format) => {
    using workplace = new Workplace();
    using pipe = new StuckPipe();
    workplace.write('petstore.config.js', FAULTY);
    const { child } = await serve(workplace, pipe.fd, { LOG_FORMAT: format });
    child.kill('SIGUSR2');
    expect(await once(child, 'close')).toEqual([1, null]);
  });
});
