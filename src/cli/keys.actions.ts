import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { CommanderError } from 'commander';
import { AuditTrail } from '../keys/audit-trail.js';
import { type KeyFilter, KeyList, type ListedKey } from '../keys/key-list.js';
import { KeysService, type OwnLimits, planOf } from '../keys/keys.service.js';
import { Scopes } from '../keys/scopes.js';
import type { PlanName } from '../rate-limits/plan.js';
import { Usage } from '../rate-limits/usage.js';
import { UsageReport } from '../usage/usage-report.js';
import { loadExtensions } from '../extensions/petstore-config.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm } from './confirmation.js';
import { issuedView, keyView, rotatedView, usageView } from './key-views.js';
import * as describe from './keys.output.js';
import { runAsOperator } from './operator.js';

/** The options of all actions. Commander makes sure that an action gets those that it requires. */
export interface KeyOptions extends CommonOptions, OwnLimits, Omit<KeyFilter, 'plan'> {
  id: string;
  plan: PlanName;
  name: string;
  scopes?: string[];
  expiresAt?: number;
  grace: number;
  idle?: number;
  expiresWithin?: number;
  yes?: true;
}

export type KeyAction = keyof ReturnType<typeof keyActions>;

function keyActions(app: INestApplicationContext) {
  const actor = { type: 'cli', name: `cli:${userName()}` } as const;
  const keys = app.get(KeysService).by({ actor, address: null, requestId: null });
  const list = app.get(KeyList);
  const find = async (id: string): Promise<ListedKey> => {
    await keys.get(id);
    const [key] = await list.find({ id });
    return key!;
  };
  const show = async ({ id }: KeyOptions): Promise<Result> => {
    const view = keyView(await find(id));
    return { value: view, text: () => describe.key(view) };
  };
  const thenShow =
    (change: (options: KeyOptions) => Promise<unknown>) =>
    async (options: KeyOptions): Promise<Result> => {
      await change(options);
      return show(options);
    };
  return {
    show,
    issue: async (options: KeyOptions) => {
      const { key, record } = await keys.issue(options);
      return { value: issuedView(record, key), text: () => describe.issued(record, key) };
    },
    list: async ({ idle, expiresWithin, ...options }: KeyOptions) => {
      if (options.after !== undefined) await keys.get(options.after);
      const filter = { ...options, idleDays: idle, expiresWithinDays: expiresWithin };
      const found = (await list.find(filter)).map(keyView);
      return { value: found, text: () => describe.keys(found) };
    },
    usage: async ({ id }: KeyOptions) => {
      const key = await find(id);
      const used = await app.get(Usage).of(key.clientId);
      const view = usageView(key, used, await app.get(UsageReport).of(key.clientId));
      return { value: view, text: () => describe.usage(view) };
    },
    rotate: async ({ id, grace }: KeyOptions) => {
      const rotated = await keys.rotate(id, grace);
      return { value: rotatedView(rotated), text: () => describe.rotated(rotated) };
    },
    revoke: thenShow(async ({ id, yes }) => {
      const { name } = await keys.get(id);
      await confirm(`Revoke the key ${id} (${name}) permanently?`, yes);
      await keys.revoke(id);
    }),
    unban: thenShow(({ id }) => keys.unban(id)),
    'set-plan': thenShow((options) => keys.setPlan(options.id, options.plan, options)),
    'set-scopes': thenShow(({ id, scopes }) => keys.setScopes(id, scopes!)),
    audit: async ({ id, limit }: KeyOptions) => {
      if (id) await keys.get(id);
      const records = await app.get(AuditTrail).find(id, limit!);
      return { value: records, text: () => describe.audit(records) };
    },
  };
}

/** @throws {CommanderError} if the options contradict each other or name an undeclared scope */
export async function runKeyAction(name: KeyAction, options: KeyOptions): Promise<Result> {
  const { extensions } = await loadExtensions(options);
  const scopes = new Scopes(extensions.map((extension) => extension.scopes ?? {}));
  try {
    if (name === 'issue' || name === 'set-plan') planOf(options.plan, options);
    scopes.assertDeclared(options.scopes ?? []);
  } catch (error) {
    throw new CommanderError(2, 'petstore.keys', `error: ${(error as Error).message}`);
  }
  return runAsOperator<Result>(options, (app) => keyActions(app)[name](options));
}

/** The audit trail names the user. In a container, the user ID may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
