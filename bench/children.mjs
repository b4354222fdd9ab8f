// Starts programs, and ends all of them with the bench.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const STOP_TIMEOUT_MS = 20_000;
/** Signals that end the running programs, in the order of their start. */
const stopSignals = new Map();

/** @param {{stopSignal?: NodeJS.Signals}} options and the options of `spawn` */
export function launch(command, args, { stopSignal = 'SIGTERM', ...options }) {
  const child = spawn(command, args, options);
  stopSignals.set(child, stopSignal);
  const forget = () => stopSignals.delete(child);
  child.once('exit', forget).once('error', forget);
  return child;
}

/** Runs a program to its end. @returns {Promise<string>} its standard output @throws if it fails */
export async function run(command, args, options = {}) {
  const child = launch(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => (output[name] += text));
  const [code, signal] = await once(child, 'close');
  if (code === 0) return output.stdout;
  throw new Error(`${command} ${args.join(' ')}: ${signal ?? `exit ${code}`}\n${output.stderr}`);
}

/** Ends a program, with SIGKILL if it does not react, and waits for its exit. */
export async function end(child) {
  const stopSignal = stopSignals.get(child);
  if (stopSignal === undefined) return;
  const exited = once(child, 'exit');
  child.kill(stopSignal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** Ends all programs in reverse order, so that none loses a program that it uses. */
export async function endAll() {
  for (const child of [...stopSignals.keys()].reverse()) await end(child);
}
