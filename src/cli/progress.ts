import { Presets, SingleBar } from 'cli-progress';

/** Shows a progress bar on standard error while `work` runs, if that is a terminal. */
export async function withProgress<T>(
  work: (update: (share: number) => void) => Promise<T>,
): Promise<T> {
  const bar = new SingleBar({ stream: process.stderr, noTTYOutput: false }, Presets.shades_classic);
  bar.start(100, 0);
  try {
    return await work((share) => bar.update(Math.round(share * 100)));
  } finally {
    bar.stop();
  }
}
