import { Presets, SingleBar } from 'cli-progress';

/** Shows a progress bar on standard error while `work` runs, if that is a terminal. */
export async function withProgress<T>(
  total: number,
  work: (update: (done: number) => void) => Promise<T>,
): Promise<T> {
  const bar = new SingleBar({ stream: process.stderr, noTTYOutput: false }, Presets.shades_classic);
  bar.start(total, 0);
  try {
    return await work((done) => bar.update(done));
  } finally {
    bar.stop();
  }
}
