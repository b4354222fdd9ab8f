import { userInfo } from 'node:os';
import { AuditTrail } from '../keys/audit-trail.js';
import type { Initiator } from '../keys/audit-record.js';
import { type KeyFilter, KeyList, type ListedKey } from '../keys/key-list.js';
import { KeyRequestError, type OwnLimits, planOf } from '../keys/key-request.js';
import { KeysService } from '../keys/keys.service.js';
import { Scopes } from '../keys/scopes.js';
import type { PlanName } from '../rate-limits/plan.js';
import { Usage } from '../rate-limits/usage.js';
import { UsageReport } from '../usage/usage-report.js';
import { type CommonOptions, loadExtensions } from './common-options.js';
import { confirm } from './confirmation.js';
import { issuedView, keyView, rotatedView, usageView } from './key-views.js';
import * as describe from './keys.output.js';
import { runAsOperator } from './operator.js';
import { UsageError } from './output.js';

/** The options of all actions. Commander makes sure that an action gets those that it requires. */
export interface KeyOptions extends CommonOptions, OwnLimits, Omit<KeyFilter, 'id' | 'plan'> {
  id: string;
  plan?: PlanName;
  name?: string;
  scopes?: string[];
  expiresAt?: number;
  grace?: number;
  idle?: number;
  expiresWithin?: number;
  yes?: true;
}

interface Context {
  keys: KeysService;
  list: KeyList;
  audit: AuditTrail;
  usage: Usage;
  report: UsageReport;
}

interface Result {
  value: unknown;
  text: () => string;
}

type Action = (context: Context, options: KeyOptions) => Promise<Result>;

const show: Action = async (context, { id }) => {
  const view = keyView(await findKey(context, id));
  return { value: view, text: () => describe.key(view) };
};

export const keyActions = {
  show,

  async issue({ keys }, { name, plan, ...options }) {
    const { key, record } = await keys.issue({ ...options, name: name!, plan: plan! });
    return { value: issuedView(record, key), text: () => describe.issued(record, key) };
  },

  async list({ keys, list }, { idle, expiresWithin, ...options }) {
    const { after, limit } = options;
    if (after !== undefined) await keys.get(after);
    const filter = { ...options, idleDays: idle, expiresWithinDays: expiresWithin };
    const found = (await list.find(filter)).map(keyView);
    const isFull = found.length > 0 && found.length === limit;
    const more = isFull ? `\nThere may be more: --after ${found.at(-1)!.id}` : '';
    return { value: found, text: () => describe.keys(found) + more };
  },

  async usage(context, { id }) {
    const key = await findKey(context, id);
    const used = await context.usage.of(key.clientId);
    const view = usageView(key, used, await context.report.of(key.clientId));
    return { value: view, text: () => describe.usage(view) };
  },

  async rotate({ keys }, { id, grace }) {
    const rotated = await keys.rotate(id, grace!);
    return { value: rotatedView(rotated), text: () => describe.rotated(rotated) };
  },

  async revoke(context, options) {
    const { name, id } = await context.keys.get(options.id);
    await confirm(`Revoke the key ${id} (${name}) permanently?`, options.yes);
    await context.keys.revoke(id);
    return { ...(await show(context, options)), text: () => `Revoked ${id}.` };
  },

  async unban(context, options) {
    await context.keys.unban(options.id);
    return { ...(await show(context, options)), text: () => `Unbanned ${options.id}.` };
  },

  async 'set-plan'(context, options) {
    await context.keys.setPlan(options.id, options.plan!, options);
    return show(context, options);
  },

  async 'set-scopes'(context, options) {
    await context.keys.setScopes(options.id, options.scopes!);
    return show(context, options);
  },

  async audit({ keys, audit }, { id, limit }) {
    if (id) await keys.get(id);
    const records = await audit.find(id, limit!);
    return { value: records, text: () => describe.audit(records) };
  },
} satisfies Record<string, Action>;

/** @throws {UsageError} if the options contradict each other or name an undeclared scope */
export async function runKeyAction(
  name: keyof typeof keyActions,
  options: KeyOptions,
): Promise<Result> {
  try {
    const { extensions } = await loadExtensions(options);
    if (name !== 'list' && options.plan !== undefined) planOf(options.plan, options);
    const scopes = new Scopes(extensions.map((extension) => extension.scopes ?? {}));
    scopes.assertDeclared(options.scopes ?? []);
    return await runAsOperator(options, (app) => {
      const [keys, list] = [app.get(KeysService).by(commandLine()), app.get(KeyList)];
      const [audit, usage, report] = [app.get(AuditTrail), app.get(Usage), app.get(UsageReport)];
      return keyActions[name]({ keys, list, audit, usage, report }, options);
    });
  } catch (error) {
    if (error instanceof KeyRequestError) throw new UsageError(error.message);
    throw error;
  }
}

/** @throws {UnknownKeyError} */
async function findKey({ keys, list }: Context, id: string): Promise<ListedKey> {
  await keys.get(id);
  const [key] = await list.find({ id });
  return key!;
}

/** The user who runs the command, as recorded in the audit trail. */
function commandLine(): Initiator {
  return { actor: { type: 'cli', name: `cli:${userName()}` }, address: null, requestId: null };
}

/** In a container, the user ID may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
