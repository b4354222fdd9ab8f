// Preloaded into a Node server. On SIGUSR2, writes the longest event-loop delay since the last
// SIGUSR2, in milliseconds, to a file of the working directory.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

process.on('SIGUSR2', () => {
  delays.disable();
  writeFileSync(`loop-delay-${process.pid}`, String(delays.max / 1e6 - RESOLUTION_MS));
  delays.reset();
  delays.enable();
});
