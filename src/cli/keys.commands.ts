import { Command, Option } from 'commander';
import type { AuditReader } from '../keys/audit-reader.js';
import type { UsageReport } from '../usage/usage-report.js';
import type { KeyFilter, KeyList, KeyStatus, ListedKey } from '../keys/key-list.js';
import type { OwnLimits } from '../keys/key-request.js';
import type { KeysService } from '../keys/keys.service.js';
import { PLAN_NAMES, type PlanName } from '../rate-limits/plan.js';
import { dayCount, duration, futureMoment, keyName, quantity, scopeList } from './arguments.js';
import { configured } from './config-file.js';
import { confirm } from './confirmation.js';
import {
  cureOfUnseen,
  describeIssued,
  describeKey,
  describeKeys,
  describeRotated,
} from './keys.output.js';
import { describeUsage } from './usage.output.js';
import { commandLine, describeAudit } from './keys.audit.js';
import { type Output, UsageError } from './output.js';

const AUDIT_LIMIT = 100;
/** 30 days. */
const HISTORY_HOURS = 720;
const KEY_STATUSES: readonly KeyStatus[] = ['active', 'banned', 'expired', 'revoked'];

interface JsonOption {
  json?: true;
}
interface IssueOptions extends JsonOption, OwnLimits {
  name: string;
  plan: PlanName;
  scopes?: string[];
  expiresAt?: number;
}

/** `petstore keys ...` */
export function keysCommand(output: Output): Command {
  const keys = new Command('keys').description('issue and manage API keys');

  planOptions(keys.command('issue').description('issue a key; it is shown only this once'))
    .requiredOption('--name <label>', 'whose key it is', keyName)
    .option('--scopes <list>', 'what it allows (default: pets:read,pets:write)', scopeList)
    .option('--expires-at <iso8601>', 'when it ends (default: never)', futureMoment)
    .option('--json', 'print JSON')
    .action((options: IssueOptions) =>
      withKeys(
        async ({ service, describe }) => {
          const { key, record } = await service.issue(options);
          output.cureOfLoss = cureOfUnseen(record);
          output.print(describe.issued(record, key), options.json, () =>
            describeIssued(record, key),
          );
        },
        ({ planOf, scopes }) => {
          planOf(options.plan, options);
          scopes.assertDeclared(options.scopes ?? []);
        },
      ),
    );

  listOptions(keys.command('list').description('list keys')).action(
    (options: JsonOption & ListOptions) =>
      withKeys(async ({ list, service, describe }) => {
        const { after, limit } = options;
        if (after !== undefined) await service.get(after);
        const found = await list.find(toFilter(options));
        const views = found.map((key) => describe.key(key));
        output.print(views, options.json, () => {
          const text = describeKeys(views, process.stdout.columns);
          if (views.length === 0 || views.length !== limit) return text;
          return `${text}\nThere may be more: --after ${views.at(-1)!.id}`;
        });
      }),
  );

  forKey(keys, 'show', 'show one key').action((id: string, options: JsonOption) =>
    withKeys(async (door) => {
      const view = door.describe.key(await shown(door, id));
      output.print(view, options.json, () => describeKey(view));
    }),
  );

  forKey(keys, 'usage', 'show what a key has used of its quotas, and why it was refused').action(
    (id: string, options: JsonOption) =>
      withKeys(async (door) => {
        const key = await shown(door, id);
        const used = await door.report.of(key.clientId, HISTORY_HOURS);
        const usage = await door.describe.usage(key, used);
        output.print(usage, options.json, () =>
          describeUsage(usage, Date.now(), output.hasColours),
        );
      }),
  );

  forKey(keys, 'rotate', 'issue a new key for the same client')
    .addOption(
      new Option('--grace <duration>', 'how long the old key stays valid')
        .argParser(duration)
        .default(duration('24h'), '24h'),
    )
    .action((id: string, options: JsonOption & { grace: number }) =>
      withKeys(async ({ service, describe }) => {
        const rotated = await service.rotate(id, options.grace);
        output.cureOfLoss = cureOfUnseen(rotated.record);
        output.print(describe.rotated(rotated), options.json, () => describeRotated(rotated));
      }),
    );

  forKey(keys, 'revoke', 'revoke a key, for good')
    .option('--yes', 'do not ask')
    .action((id: string, options: JsonOption & { yes?: true }) =>
      withKeys(async (door) => {
        const { name } = await door.service.get(id);
        await confirm(`Revoke ${id} of ${name}, within a second and for good?`, options.yes);
        await door.service.revoke(id);
        const view = door.describe.key(await shown(door, id));
        output.print(view, options.json, `Revoked ${id}.`);
      }),
    );

  forKey(keys, 'unban', 'end the ban of a key').action((id: string, options: JsonOption) =>
    withKeys(async (door) => {
      await door.service.unban(id);
      const view = door.describe.key(await shown(door, id));
      output.print(view, options.json, `The ban of ${id} is over.`);
    }),
  );

  planOptions(forKey(keys, 'set-plan', 'change the plan of a client')).action(
    (id: string, options: JsonOption & OwnLimits & { plan: PlanName }) =>
      withKeys(
        async (door) => {
          await door.service.setPlan(id, options.plan, options);
          const view = door.describe.key(await shown(door, id));
          output.print(view, options.json, () => describeKey(view));
        },
        ({ planOf }) => planOf(options.plan, options),
      ),
  );

  forKey(keys, 'set-scopes', 'change what a key allows')
    .requiredOption('--scopes <list>', 'what it allows from now on', scopeList)
    .action((id: string, options: JsonOption & { scopes: string[] }) =>
      withKeys(
        async (door) => {
          await door.service.setScopes(id, options.scopes);
          const view = door.describe.key(await shown(door, id));
          output.print(view, options.json, () => describeKey(view));
        },
        ({ scopes }) => scopes.assertDeclared(options.scopes),
      ),
    );

  keys
    .command('audit')
    .description('tell who changed keys, and which were banned, the latest first')
    .argument('[id]', 'the id of a key (default: all keys)')
    .option('--limit <n>', 'so many at most', quantity, AUDIT_LIMIT)
    .option('--json', 'print JSON')
    .action((id: string | undefined, options: JsonOption & { limit: number }) =>
      withKeys(async ({ service, audit }) => {
        if (id !== undefined) await service.get(id);
        const records = await audit.find({ keyId: id, limit: options.limit });
        output.print(records, options.json, () => describeAudit(records));
      }),
    );

  return keys;
}

function forKey(keys: Command, name: string, description: string): Command {
  return keys
    .command(name)
    .description(description)
    .argument('<id>', 'the id of the key')
    .option('--json', 'print JSON');
}

function planOptions(command: Command): Command {
  return command
    .addOption(new Option('--plan <plan>', 'its plan').choices(PLAN_NAMES).makeOptionMandatory())
    .option('--per-minute <n>', 'requests per minute (enterprise only)', quantity)
    .option('--per-day <n>', 'requests per day (enterprise only)', quantity);
}

interface ListOptions extends Pick<
  KeyFilter,
  'plan' | 'status' | 'search' | 'neverUsed' | 'limit' | 'after'
> {
  idle?: number;
  expiresWithin?: number;
}

function listOptions(command: Command): Command {
  return command
    .addOption(new Option('--plan <plan>', 'of that plan').choices(PLAN_NAMES))
    .addOption(new Option('--status <status>', 'in that state').choices(KEY_STATUSES))
    .option('--search <text>', 'a part of the name, an id, or the last four characters')
    .option('--idle <days>', 'in force, and not used for so long', dayCount)
    .option('--never-used', 'in force, and never used')
    .option('--expires-within <days>', 'in force, and ending by then', dayCount)
    .option('--limit <n>', 'so many at most', quantity)
    .option('--after <id>', 'those behind that key')
    .option('--json', 'print JSON');
}

function toFilter({ idle, expiresWithin, ...rest }: ListOptions): KeyFilter {
  return { ...rest, idleDays: idle, expiresWithinDays: expiresWithin };
}

/** What a command has to do with. */
interface Door {
  report: UsageReport;
  audit: AuditReader;
  service: KeysService;
  list: KeyList;
  describe: import('./key-views.js').KeyViews;
}

/** What can be said of arguments without a database. */
interface Rules {
  planOf: typeof import('../keys/key-request.js').planOf;
  scopes: import('../keys/scopes.js').Scopes;
}

/** @throws {UnknownKeyError} */
async function shown({ service, list }: Door, id: string): Promise<ListedKey> {
  await service.get(id);
  const [key] = await list.find({ id });
  return key!;
}

/** Nest is loaded only for a command that is really run: `--help` and typing errors answer at once. */
async function withKeys(
  work: (door: Door) => Promise<void>,
  check: (rules: Rules) => unknown = () => undefined,
): Promise<void> {
  const [{ KeyRequestError, planOf }, { Scopes }, { extensions }] = await Promise.all([
    import('../keys/key-request.js'),
    import('../keys/scopes.js'),
    configured(),
  ]);
  try {
    check({ planOf, scopes: new Scopes(extensions.map(({ scopes = {} }) => scopes)) });
    const [{ asOperator }, { KeysService }, { AuditReader }, { KeyList }, ...others] =
      await Promise.all([
        import('./operator.js'),
        import('../keys/keys.service.js'),
        import('../keys/audit-reader.js'),
        import('../keys/key-list.js'),
        import('./key-views.js'),
        import('../rate-limits/usage.js'),
        import('../usage/usage-report.js'),
      ]);
    const [{ KeyViews }, { Usage }, { UsageReport }] = others;
    await asOperator((app) =>
      work({
        service: app.get(KeysService).by(commandLine()),
        audit: app.get(AuditReader),
        list: app.get(KeyList),
        report: app.get(UsageReport),
        describe: new KeyViews(app.get(Usage)),
      }),
    );
  } catch (error) {
    if (error instanceof KeyRequestError) throw new UsageError(error.message);
    throw error;
  }
}
