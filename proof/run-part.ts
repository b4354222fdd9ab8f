import { findEngine } from '../test/support/engines.js';
import type { Result } from './part.js';
import { PARTS } from './parts.js';

// The process of one part: the simulator replaces timers, and a model holds many services.

export interface Options {
  seed: number;
  isShort: boolean;
  path?: string | undefined;
}

export interface Report extends Result {
  seconds: number;
}

/** A part that cannot end has found a fault too. */
function faultOf(error: unknown): Result {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { tried: 'nothing to the end', figures: {}, faults: [text] };
}

async function main(name: string, options: Options): Promise<void> {
  const { needs, run } = PARTS.find((part) => part.name === name)!;
  const missing = needs.filter((engine) => findEngine(engine) === undefined);
  if (missing.length > 0) {
    const programs = missing.join(' and ');
    throw new Error(`this machine lacks ${programs}; CONTRIBUTING.md lists the packages`);
  }
  const say = (line: string): void => void process.stdout.write(`[${name}] ${line}\n`);
  const startedAt = performance.now();
  const result = await run({ ...options, say }).catch(faultOf);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  // A part that failed may have left timers and connections behind.
  process.send!({ ...result, seconds } satisfies Report, () => process.exit());
}

await main(process.argv[2]!, JSON.parse(process.argv[3]!) as Options);
