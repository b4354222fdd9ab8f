import type { INestApplicationContext } from '@nestjs/common';
import { CommanderError } from 'commander';
import { AuditTrail } from '../keys/audit-trail.js';
import { type KeyFilter, KeyList, type ListedKey } from '../keys/key-list.js';
import { issuedView, keyView, rotatedView } from '../keys/key-views.js';
import { KeysService } from '../keys/keys.service.js';
import { type OwnLimits, Plans } from '../rate-limits/plan.js';
import { CurrentCounts } from '../rate-limits/current-counts.js';
import { DAY_MS } from '../time/windows.js';
import { UsageReport } from '../usage/usage-report.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm } from './confirmation.js';
import { usageView } from './usage-view.js';
import * as describe from './keys.output.js';
import { operator, runAsOperator } from './operator.js';

/** The options of all actions. Commander makes sure that an action gets those that it requires. */
export interface KeyOptions extends CommonOptions, OwnLimits, Omit<KeyFilter, 'plan'> {
  id: string;
  plan: string;
  name: string;
  scopes?: string[];
  /** Infinity for `never`, which only `set-expiry` accepts. */
  expiresAt?: number;
  grace?: number;
  idle?: number;
  expiresWithin?: number;
  yes?: true;
}

/** Rows of `keys list` on a terminal; `--json` has all keys. */
const PAGE_SIZE = 50;

/** The subcommands of `petstore keys`. */
class KeyActions {
  readonly disable = this.changing((keys, { id }) => keys.set(id, { disabled: true }));
  readonly enable = this.changing((keys, { id }) => keys.set(id, { disabled: false }));
  readonly rename = this.changing((keys, { id, name }) => keys.set(id, { name }));
  readonly unban = this.changing((keys, { id }) => keys.unban(id));
  readonly 'set-plan' = this.changing((keys, { id, plan, perMinute, perDay }) =>
    keys.set(id, { plan, perMinute, perDay }),
  );
  readonly 'set-scopes' = this.changing((keys, { id, scopes }) => keys.set(id, { scopes }));
  readonly 'set-expiry' = this.changing((keys, { id, expiresAt }) =>
    keys.set(id, { expiresAt: expiresAt === Infinity ? null : expiresAt }),
  );

  private readonly keys: KeysService;
  private readonly plans: Plans;

  constructor(private readonly app: INestApplicationContext) {
    this.plans = app.get(Plans);
    this.keys = app.get(KeysService).by(operator());
  }

  async issue(options: KeyOptions): Promise<Result> {
    const value = issuedView(await this.keys.issue(options), this.plans);
    return { value, text: describe.issued(value) };
  }

  async list({ idle, expiresWithin, ...options }: KeyOptions): Promise<Result> {
    if (options.plan !== undefined) this.plans.assertExists(options.plan);
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

  async rotate({ id, grace = DAY_MS }: KeyOptions): Promise<Result> {
    const value = rotatedView(await this.keys.rotate(id, grace), this.plans);
    return { value, text: describe.rotated(value) };
  }

  async revoke(options: KeyOptions): Promise<Result> {
    const { id, name } = await this.keys.get(options.id);
    await confirm(`Revoke the key ${id} (${name}) permanently?`, options.yes);
    await this.keys.revoke(id);
    return this.show(options);
  }

  async audit({ id, limit }: KeyOptions): Promise<Result> {
    if (id) await this.keys.get(id);
    const value = await this.app.get(AuditTrail).find(id, limit!);
    return { value, text: describe.audit(value) };
  }

  /** Returns an action that changes a key and shows it. */
  private changing(change: (keys: KeysService, options: KeyOptions) => Promise<void>) {
    return async (options: KeyOptions): Promise<Result> => {
      await change(this.keys, options);
      return this.show(options);
    };
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
  try {
    return await runAsOperator(options, (app) => new KeyActions(app)[name](options));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommanderError(2, 'petstore.keys', `error: ${error.message}`);
  }
}
