import { userInfo } from 'node:os';
import { AuditTrail } from '../keys/audit-trail.js';
import type { Initiator } from '../keys/audit-record.js';
import { KeyList, type ListedKey } from '../keys/key-list.js';
import { KeyRequestError, type OwnLimits, planOf } from '../keys/key-request.js';
import { KeysService } from '../keys/keys.service.js';
import { Scopes } from '../keys/scopes.js';
import type { PlanName } from '../rate-limits/plan.js';
import { Usage } from '../rate-limits/usage.js';
import { UsageReport } from '../usage/usage-report.js';
import { type CommonOptions, loadExtensions } from './common-options.js';
import * as views from './key-views.js';
import { runAsOperator } from './operator.js';
import { UsageError } from './output.js';

/** The parts of the service that the `keys` commands use. */
export interface KeyCommandContext {
  keys: KeysService;
  list: KeyList;
  audit: AuditTrail;
  usage: Usage;
  report: UsageReport;
  views: typeof views;
  /** @throws {UnknownKeyError} */
  find: (id: string) => Promise<ListedKey>;
}

/** Arguments that can be checked without a database. */
export interface KeyRequest extends OwnLimits {
  plan?: PlanName;
  scopes?: readonly string[];
}

/**
 * Runs `work` on the keys of the database.
 * @throws {UsageError} if the request contradicts itself or names an undeclared scope
 */
export async function openKeys(
  options: CommonOptions,
  request: KeyRequest,
  work: (context: KeyCommandContext) => Promise<void>,
): Promise<void> {
  try {
    const { extensions } = await loadExtensions(options);
    if (request.plan !== undefined) planOf(request.plan, request);
    const scopes = new Scopes(extensions.map((extension) => extension.scopes ?? {}));
    scopes.assertDeclared(request.scopes ?? []);
    await runAsOperator(options, (app) => {
      const keys = app.get(KeysService).by(commandLine());
      const list = app.get(KeyList);
      const find = async (id: string): Promise<ListedKey> => {
        await keys.get(id);
        const [key] = await list.find({ id });
        return key!;
      };
      const [audit, usage, report] = [app.get(AuditTrail), app.get(Usage), app.get(UsageReport)];
      return work({ keys, list, find, audit, usage, report, views });
    });
  } catch (error) {
    if (error instanceof KeyRequestError) throw new UsageError(error.message);
    throw error;
  }
}

/** The user who runs the command, as recorded in the audit trail. */
export function commandLine(): Initiator {
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
