import assert from 'node:assert/strict';
import type { AsyncCommand } from 'fast-check';
import { eventually } from '../../test/support/eventually.js';
import type { Model } from './commands.js';
import { type Key, policyOf, type System } from './system.js';

/** A step of a client whose key is enabled. */
export abstract class Step<Input> implements AsyncCommand<Model, System> {
  constructor(readonly input: Input) {}

  check({ isDisabled }: Readonly<Model>): boolean {
    return !isDisabled;
  }

  abstract run(model: Model, real: System): Promise<void>;

  toString(): string {
    return `${this.constructor.name}(${JSON.stringify(this.input) ?? ''})`;
  }
}

/** A request of the client. Each response states the limits of its plan. */
export async function send({ terms }: Model, real: System, path: string, init?: RequestInit) {
  const { key } = real.current;
  const response = await real.fetch(path, { key, ...init });
  const { status, headers } = response;
  assert.equal(headers.get('ratelimit-policy'), policyOf(terms));
  return { status, headers, text: await response.text() };
}

/** A small request. @returns 200, or the code of the error */
export async function ask(real: System, { key } = real.current): Promise<string> {
  const response = await real.fetch('/v1/pets?limit=1', { key });
  const body = (await response.json()) as { code: string };
  return response.status === 200 ? '200' : body.code;
}

/** Waits until a small request has a result. */
export function reaches(real: System, wanted: string, key?: Key): Promise<void> {
  return eventually(async () => (await ask(real, key)) === wanted);
}
