// Reads memory and CPU time of a process and its children from /proc.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const TICKS_PER_SECOND = 100;
const QUIET_TICKS = 1;
const SETTLE_STEP_MS = 100;
const SETTLE_TIMEOUT_MS = 15_000;
/** In a virtual machine: how much of the processors others may have used during a round. */
const MAX_STOLEN = 0.01;
const MAX_ATTEMPTS = 4;

/** Resident memory in MB (2^20 bytes). */
export function memoryMb(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
}

/** CPU time so far of a process and its children, in seconds. */
export function cpuSeconds(pid) {
  return ticksOf(pid) / TICKS_PER_SECOND;
}

function ticksOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  const ticks = [pid, ...children.filter(Boolean)].map((each) => {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1].split(' ');
    // User and kernel time, also of children that have ended.
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0);
}

/** Waits until a server has finished the work that its last load caused. */
export async function settle(pid) {
  const deadline = performance.now() + SETTLE_TIMEOUT_MS;
  let before = ticksOf(pid);
  while (performance.now() < deadline) {
    await pause(SETTLE_STEP_MS);
    const now = ticksOf(pid);
    if (now - before <= QUIET_TICKS) return;
    before = now;
  }
}

/**
 * Measures once more, at most three times, while the host gives the processors to other machines.
 * @template Result @param {() => Promise<Result>} measure @returns {Promise<Result>}
 */
export async function undisturbed(measure) {
  for (let attempt = 1; ; attempt++) {
    const before = processorTicks();
    const result = await measure();
    const after = processorTicks();
    const stolen = (after.stolen - before.stolen) / (after.all - before.all);
    if (stolen <= MAX_STOLEN || attempt === MAX_ATTEMPTS) return result;
  }
}

/** Ticks of all processors so far (proc_stat(5)). */
function processorTicks() {
  const ticks = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .split(/ +/)
    .slice(1, 9)
    .map(Number);
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks[7] };
}
