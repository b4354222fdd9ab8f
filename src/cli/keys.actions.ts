import type { INestApplicationContext } from '@nestjs/common';
import { CommanderError } from 'commander';
import { loadAllExtensions } from '../built-in.js';
import { KEY_FORM } from '../core/keys/api-key-format.js';
import { AuditTrail } from '../core/keys/audit-trail.js';
import { type KeyFilter, KeyList } from '../core/keys/key-list.js';
import { issuedView, rotatedView } from '../core/keys/key-views.js';
import { KeysService } from '../core/keys/keys.service.js';
import { Scopes } from '../core/keys/scopes.js';
import { type OwnLimits, Plans } from '../core/rate-limits/plan.js';
import { CounterRepository } from '../core/rate-limits/counter.repository.js';
import { MemoryStore } from '../core/rate-limits/stores/memory.store.js';
import { RateLimitStore } from '../core/rate-limits/stores/rate-limit-store.js';
import { DAY_MS, dayEndUnix, isoTime, minuteEndUnix } from '../core/time/windows.js';
import { UsageService } from '../core/usage/usage.service.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm } from './confirmation.js';
import * as describe from './keys.output.js';
import { operator, runAsOperator } from './operator.js';

/** The options of all actions. Commander enforces the required ones. */
export interface KeyOptions extends CommonOptions, OwnLimits, KeyFilter {
  id: string;
  plan: string;
  name: string;
  scopes?: string[];
  from?: string[];
  /** Infinity for `never`, which only `set-expiry` accepts. */
  expiresAt?: number;
  grace?: number;
  idle?: number;
  expiresWithin?: number;
}

/** Rows of `keys list` on a terminal; `--json` has all keys. */
const PAGE_SIZE = 50;

/** The subcommands of `petstore keys`. */
const ACTIONS = {
  show,
  rename: set,
  'set-plan': set,
  'set-scopes': set,
  'set-expiry': set,
  'set-from': set,
  disable: (app, options) => set(app, options, true),
  enable: (app, options) => set(app, options, false),

  async unban(app, options) {
    await app.get(KeysService).unban(options.id, operator());
    return show(app, options);
  },

  async revoke(app, options) {
    const { id, name } = await app.get(KeyList).get(options.id);
    await confirm(`Revoke the key ${id} (${name}) permanently?`, options.yes);
    await app.get(KeysService).revoke(id, operator());
    return show(app, options);
  },

  async issue(app, options) {
    const terms = { ...options, allowedFrom: options.from };
    const value = issuedView(await app.get(KeysService).issue(terms, operator()), app.get(Plans));
    const undo = `petstore keys revoke ${value.id}`;
    return { value, text: describe.issued(value), secret: value.key, undo };
  },

  async list(app, { idle, expiresWithin, ...options }) {
    if (options.after !== undefined) await app.get(KeyList).get(options.after);
    const limit = options.limit ?? (options.json ? undefined : PAGE_SIZE);
    const filter = { ...options, limit, idleDays: idle, expiresWithinDays: expiresWithin };
    const value = await app.get(KeyList).find(filter);
    const next = value.length === limit ? `\n\nNext page: add --after ${value.at(-1)!.id}` : '';
    return { value, text: describe.keys(value) + next };
  },

  async usage(app, { id }) {
    const view = await app.get(KeyList).get(id);
    const used = await countsOf(app, view.clientId);
    const value = {
      ...view,
      minute: windowView(view.perMinute, used.minuteUsed, minuteEndUnix(used.minute)),
      day: windowView(view.perDay, used.dayUsed, dayEndUnix(used.day)),
      ...(await outcomesOf(app.get(UsageService), view.clientId)),
    };
    return { value, text: describe.usage(value) };
  },

  async rotate(app, { id, grace = DAY_MS }) {
    const value = rotatedView(
      await app.get(KeysService).rotate(id, grace, operator()),
      app.get(Plans),
    );
    // Without the new key, the client would have none once the old one has ended.
    const undo = `petstore keys rotate ${value.id} --grace 0s`;
    return { value, text: describe.rotated(value), secret: value.key, undo };
  },

  async audit(app, { id, limit }) {
    if (id) await app.get(KeyList).get(id);
    const value = await app.get(AuditTrail).find(limit!, { keyId: id || undefined });
    return { value, text: describe.audit(value) };
  },
} satisfies Record<string, (app: INestApplicationContext, options: KeyOptions) => Promise<Result>>;

export type KeyAction = keyof typeof ACTIONS;

/** @throws {CommanderError} for contradicting options, an unknown plan or an undeclared scope */
export async function runKeyAction(name: KeyAction, options: KeyOptions): Promise<Result> {
  // Before the database is opened: a usage error does not depend on it.
  const { extensions, plans: own } = await loadAllExtensions(options);
  const { plan, scopes = [] } = options;
  try {
    const plans = new Plans(own);
    if (name === 'list' && plan) plans.assertExists(plan);
    else if (plan) plans.choose(plan, options);
    new Scopes(extensions).assertDeclared(scopes);
  } catch (error) {
    throw new CommanderError(2, 'petstore.keys', `error: ${(error as Error).message}`);
  }
  return runAsOperator<Result>(options, async (app) => {
    const id = await idOf(options.id, app.get(KeyList));
    return ACTIONS[name](app, { ...options, id });
  });
}

/** Accepts a whole key in place of its ID. */
async function idOf(id: string, list: KeyList): Promise<string> {
  const [key] = KEY_FORM.test(id) ? await list.find({ search: id }) : [];
  return key?.id ?? id;
}

/** Changes what the options have, and shows the key. */
async function set(app: INestApplicationContext, options: KeyOptions, disabled?: boolean) {
  const expiresAt = options.expiresAt === Infinity ? null : options.expiresAt;
  const changes = { ...options, allowedFrom: options.from, expiresAt, disabled };
  await app.get(KeysService).set(options.id, changes, operator());
  return show(app, options);
}

async function show(app: INestApplicationContext, { id }: KeyOptions) {
  const value = await app.get(KeyList).get(id);
  return { value, text: describe.key(value) };
}

/**
 * The current counts of a client, which may lag by a second: this process does not count.
 * @throws {Error} if Redis is unreachable: only the nodes know what was used since
 */
async function countsOf(app: INestApplicationContext, clientId: string) {
  const store = app.get(RateLimitStore);
  const count = await app.get(CounterRepository).find(clientId);
  if (count !== null) app.get(MemoryStore).restore(count);
  const counts = await store.peek(clientId);
  if (store.mode === 'fallback') {
    throw new Error('Redis is unreachable, so the current counts are unknown');
  }
  return counts;
}

/** The outcomes of the last 24 hours, and the latest rejected requests. */
async function outcomesOf(usage: UsageService, clientId: string) {
  const { hours, rejected } = await usage.history(clientId, 24);
  const outcomes: Record<string, number> = {};
  for (const [code, count] of hours.flatMap(({ codes }) => Object.entries(codes))) {
    outcomes[code] = (outcomes[code] ?? 0) + count;
  }
  return { outcomes, rejected };
}

/** All keys of a client share their quota. */
function windowView(limit: number, used: number, resetUnix: number) {
  return { limit, used, remaining: Math.max(0, limit - used), resetAt: isoTime(resetUnix * 1000) };
}
