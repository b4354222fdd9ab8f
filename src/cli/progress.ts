import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  update: (done: number) => void;
  stop: () => void;
}

/** A bar on standard error, where that is a terminal; else nothing. */
export function progressBar(total: number): Progress {
  const bar = new SingleBar({ stream: process.stderr, noTTYOutput: false }, Presets.shades_classic);
  bar.start(total, 0);
  return { update: (done) => bar.update(done), stop: () => bar.stop() };
}
