// Reads memory and processor time of a process and its children from /proc.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const TICKS_PER_SECOND = 100;
const QUIET_TICKS = 1;
const SETTLE_STEP_MS = 100;
const SETTLE_TIMEOUT_MS = 15_000;

function familyOf(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** Resident memory in MB (2^20 bytes). */
export function memoryMb(pid) {
  const kibibytes = familyOf(pid).map((each) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, 'utf8'))[1]),
  );
  return kibibytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** Processor time so far of a process and its children, in seconds. */
export function processorSeconds(pid) {
  return ticks(pid) / TICKS_PER_SECOND;
}

function ticks(pid) {
  return familyOf(pid).reduce((sum, each) => sum + ownTicks(each), 0);
}

function ownTicks(pid) {
  // The name of the program, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** Waits until a server has finished the work that its last load caused. */
export async function settle(pid) {
  const deadline = performance.now() + SETTLE_TIMEOUT_MS;
  let before = ticks(pid);
  while (performance.now() < deadline) {
    await wait(SETTLE_STEP_MS);
    const now = ticks(pid);
    if (now - before <= QUIET_TICKS) return;
    before = now;
  }
}
