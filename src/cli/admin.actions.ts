import type { AdminToken } from '../core/keys/admin-token.entity.js';
import { AdminTokens } from '../core/keys/admin-tokens.service.js';
import { isoTime } from '../core/time/windows.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm } from './confirmation.js';
import { operator, runAsOperator } from './operator.js';
import { table } from './output.js';

export interface AdminOptions extends CommonOptions {
  id: string;
  name: string;
}

export type AdminAction = keyof typeof ACTIONS;

/** The subcommands of `petstore admin`. */
const ACTIONS = {
  async issue(tokens: AdminTokens, { name }: AdminOptions): Promise<Result> {
    const value = await tokens.issue(name, operator());
    const text = `Admin token ${value.id} for ${name}. Store it now: it is not shown again.`;
    return { value, text, secret: value.token };
  },

  async list(tokens: AdminTokens): Promise<Result> {
    const value = (await tokens.list()).map(viewOf);
    const rows = value.map(({ id, name, createdAt, revokedAt }) => {
      return [id, createdAt, revokedAt ?? 'no', name];
    });
    const text = table('ID,ISSUED,REVOKED,NAME', rows);
    return { value, text: rows.length === 0 ? 'No admin tokens found.' : text };
  },

  async revoke(tokens: AdminTokens, { id, yes }: AdminOptions): Promise<Result> {
    await confirm(`Revoke the admin token ${id} permanently?`, yes);
    const value = viewOf(await tokens.revoke(id, operator()));
    return { value, text: `Revoked the admin token ${id} (${value.name}).` };
  },
};

function viewOf({ id, name, createdAt, revokedAt }: AdminToken) {
  return { id, name, createdAt: isoTime(createdAt), revokedAt: isoTime(revokedAt) };
}

export function runAdminAction(name: AdminAction, options: AdminOptions): Promise<Result> {
  return runAsOperator(options, (app) => ACTIONS[name](app.get(AdminTokens), options));
}
