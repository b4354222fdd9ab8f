import { userInfo } from 'node:os';
import type { AuditRecord, Initiator, State } from '../keys/audit-record.js';
import { table } from './output.js';

/** Whoever runs the command. */
export function commandLine(): Initiator {
  return { actor: { type: 'cli', name: `cli:${userName()}` }, address: null, requestId: null };
}

/** A user that the system has no name for, as in a container, has its number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

export function describeAudit(records: readonly AuditRecord[]): string {
  if (records.length === 0) return 'Nothing is recorded.';
  return table(
    ['AT', 'ACTION', 'BY', 'TARGET', 'CHANGE'],
    records.map(({ at, action, actor, target, before, after }) => [
      at,
      action,
      actor.name,
      target,
      changes(before, after),
    ]),
  );
}

function changes(before: State | null, after: State | null): string {
  return Object.entries(after ?? {})
    .map(([name, value]) => {
      const old = before === null || !(name in before) ? '' : `${wordOf(before[name])} -> `;
      return `${name}: ${old}${wordOf(value)}`;
    })
    .join(', ');
}

function wordOf(value: State[string] | undefined): string {
  return value === null || value === undefined ? 'none' : [value].flat().join(' ');
}
