import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { CommanderError } from 'commander';
import { AuditTrail } from '../keys/audit-trail.js';
import { type KeyFilter, KeyList, type ListedKey } from '../keys/key-list.js';
import { KeysService } from '../keys/keys.service.js';
import { Scopes } from '../keys/scopes.js';
import { type OwnLimits, type PlanName, Plans } from '../rate-limits/plan.js';
import { CurrentCounts } from '../rate-limits/current-counts.js';
import { UsageReport } from '../usage/usage-report.js';
import { loadExtensions } from '../extensions/petstore-config.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm } from './confirmation.js';
import { issuedView, keyView, rotatedView, usageView } from './key-views.js';
import * as describe from './keys.output.js';
import { runAsOperator } from './operator.js';
import { KEY_FORM } from './output.js';

/** The options of all actions. Commander makes sure that an action gets those that it requires. */
export interface KeyOptions extends CommonOptions, OwnLimits, Omit<KeyFilter, 'plan'> {
  id: string;
  plan: PlanName;
  name: string;
  scopes?: string[];
  /** Infinity for `never`, which only `set-expiry` accepts. */
  expiresAt?: number;
  grace: number;
  idle?: number;
  expiresWithin?: number;
  yes?: true;
}

/** Rows of `keys list` on a terminal; `--json` has all keys. */
const PAGE_SIZE = 50;

/** The subcommands of `petstore keys`. */
class KeyActions {
  private readonly keys: KeysService;
  private readonly plans: Plans;

  constructor(private readonly app: INestApplicationContext) {
    const actor = { type: 'cli', name: `cli:${userName()}` } as const;
    this.plans = app.get(Plans);
    this.keys = app.get(KeysService).by({ actor, address: null, requestId: null });
  }

  async issue(options: KeyOptions): Promise<Result> {
    const issued = await this.keys.issue(options);
    return { value: issuedView(issued, this.plans), text: describe.issued(issued) };
  }

  async list({ idle, expiresWithin, ...options }: KeyOptions): Promise<Result> {
    if (options.after !== undefined) await this.keys.get(options.after);
    const limit = options.limit ?? (options.json ? undefined : PAGE_SIZE);
    const filter = { ...options, limit, idleDays: idle, expiresWithinDays: expiresWithin };
    const found = await this.app.get(KeyList).find(filter);
    const value = found.map((key) => keyView(key, this.plans));
    const next = found.length === limit ? `\n\nNext page: add --after ${found.at(-1)!.id}` : '';
    return { value, text: describe.keys(value) + next };
  }

  async show({ id }: KeyOptions): Promise<Result> {
    const value = keyView(await this.find(id), this.plans);
    return { value, text: describe.key(value) };
  }

  async usage({ id }: KeyOptions): Promise<Result> {
    const key = await this.find(id);
    const used = await this.app.get(CurrentCounts).of(key.clientId);
    const report = await this.app.get(UsageReport).of(key.clientId);
    const value = usageView(key, used, report, this.plans);
    return { value, text: describe.usage(value) };
  }

  async rotate({ id, grace }: KeyOptions): Promise<Result> {
    const rotated = await this.keys.rotate(id, grace);
    return { value: rotatedView(rotated, this.plans), text: describe.rotated(rotated) };
  }

  async revoke(options: KeyOptions): Promise<Result> {
    const { id, name } = await this.keys.get(options.id);
    await confirm(`Revoke the key ${id} (${name}) permanently?`, options.yes);
    await this.keys.revoke(id);
    return this.show(options);
  }

  async disable(options: KeyOptions): Promise<Result> {
    await this.keys.disable(options.id);
    return this.show(options);
  }

  async enable(options: KeyOptions): Promise<Result> {
    await this.keys.enable(options.id);
    return this.show(options);
  }

  async rename(options: KeyOptions): Promise<Result> {
    await this.keys.rename(options.id, options.name);
    return this.show(options);
  }

  async 'set-expiry'(options: KeyOptions): Promise<Result> {
    const expiresAt = options.expiresAt!;
    await this.keys.setExpiry(options.id, expiresAt === Infinity ? null : expiresAt);
    return this.show(options);
  }

  async unban(options: KeyOptions): Promise<Result> {
    await this.keys.unban(options.id);
    return this.show(options);
  }

  async 'set-plan'(options: KeyOptions): Promise<Result> {
    await this.keys.setPlan(options.id, options.plan, options);
    return this.show(options);
  }

  async 'set-scopes'(options: KeyOptions): Promise<Result> {
    await this.keys.setScopes(options.id, options.scopes!);
    return this.show(options);
  }

  async audit({ id, limit }: KeyOptions): Promise<Result> {
    if (id) await this.keys.get(id);
    const value = await this.app.get(AuditTrail).find(id, limit!);
    return { value, text: describe.audit(value) };
  }

  private async find(id: string): Promise<ListedKey> {
    await this.keys.get(id);
    const [key] = await this.app.get(KeyList).find({ id });
    return key!;
  }
}

export type KeyAction = keyof KeyActions;

/** @throws {CommanderError} for contradicting options, an unknown plan or an undeclared scope */
export async function runKeyAction(name: KeyAction, options: KeyOptions): Promise<Result> {
  const { extensions, plans: own } = await loadExtensions(options);
  const plans = new Plans(own);
  const scopes = new Scopes(extensions.map((extension) => extension.scopes ?? {}));
  try {
    if (name === 'issue' || name === 'set-plan') plans.choose(options.plan, options);
    if (name === 'list' && options.plan) plans.assertExists(options.plan);
    scopes.assertDeclared(options.scopes ?? []);
  } catch (error) {
    throw new CommanderError(2, 'petstore.keys', `error: ${(error as Error).message}`);
  }
  return runAsOperator(options, async (app) => {
    const id = await idOf(options.id, app.get(KeyList));
    return new KeyActions(app)[name]({ ...options, id });
  });
}

/** Accepts a whole key in place of its id. */
async function idOf(id: string, list: KeyList): Promise<string> {
  const [key] = KEY_FORM.test(id) ? await list.find({ search: id }) : [];
  return key?.id ?? id;
}

/** The user behind `sudo`. In a container, the user ID may have no name. */
function userName(): string {
  try {
    return process.env['SUDO_USER'] || userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
