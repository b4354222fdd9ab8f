import type { AdminRole, AdminToken } from '../core/keys/admin-token.entity.js';
import { AdminTokens } from '../core/keys/admin-tokens.service.js';
import { isoTime } from '../core/time/windows.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm } from './confirmation.js';
import { operator, runAsOperator } from './operator.js';
import { table } from './output.js';

export interface AdminOptions extends CommonOptions {
  id: string;
  name: string;
  role: AdminRole;
  /** Unix milliseconds. */
  expiresAt?: number;
}

export type AdminAction = keyof typeof ACTIONS;

/** The subcommands of `petstore admin`. */
const ACTIONS = {
  async issue(tokens: AdminTokens, { name, role, expiresAt }: AdminOptions): Promise<Result> {
    const namesake = (await tokens.list()).find((each) => each.name === name && isActive(each));
    const note =
      namesake &&
      `The active token ${namesake.id} has the same name: the audit trail cannot tell them apart.`;
    const value = await tokens.issue({ name, role, expiresAt }, operator());
    const text = `Admin token ${value.id} for ${name}, ${role}. Store it now: it is not shown again.`;
    const undo = `petstore admin revoke ${value.id}`;
    return { value, text, secret: value.token, undo, note };
  },

  async list(tokens: AdminTokens): Promise<Result> {
    const value = (await tokens.list()).map(viewOf);
    const rows = value.map(({ id, name, role, createdAt, expiresAt, revokedAt }) => {
      return [id, role, createdAt, expiresAt ?? 'never', revokedAt ?? 'no', name];
    });
    const text = table('ID,ROLE,ISSUED,EXPIRES,REVOKED,NAME', rows);
    return { value, text: rows.length === 0 ? 'No admin tokens found.' : text };
  },

  async revoke(tokens: AdminTokens, { id, yes }: AdminOptions): Promise<Result> {
    await confirm(`Revoke the admin token ${id} permanently?`, yes);
    const value = viewOf(await tokens.revoke(id, operator()));
    return { value, text: `Revoked the admin token ${id} (${value.name}).` };
  },
};

function viewOf({ id, name, role, createdAt, expiresAt, revokedAt }: AdminToken) {
  const times = { createdAt: isoTime(createdAt), expiresAt: isoTime(expiresAt) };
  return { id, name, role, ...times, revokedAt: isoTime(revokedAt) };
}

function isActive({ expiresAt, revokedAt }: AdminToken): boolean {
  return revokedAt === null && (expiresAt ?? Infinity) > Date.now();
}

export function runAdminAction(name: AdminAction, options: AdminOptions): Promise<Result> {
  return runAsOperator(options, (app) => ACTIONS[name](app.get(AdminTokens), options));
}
