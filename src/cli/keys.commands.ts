import { type Command, Option } from 'commander';
import type { KeyFilter } from '../keys/key-list.js';
import type { OwnLimits } from '../keys/key-request.js';
import type { KeysService } from '../keys/keys.service.js';
import { PLAN_NAMES, type PlanName } from '../rate-limits/plan.js';
import * as parse from './arguments.js';
import { addCommand, type CommonOptions } from './common-options.js';
import { confirm } from './confirmation.js';
import type { KeyView } from './key-views.js';
import type { KeyCommandContext, KeyRequest } from './keys.context.js';
import * as describe from './keys.output.js';
import type { Output } from './output.js';

const DEFAULT_AUDIT_LIMIT = 100;
const USAGE_HOURS = 720;
const STATUSES = ['active', 'banned', 'expired', 'revoked'];

type PlanOptions = CommonOptions & OwnLimits & { plan: PlanName };
type IssueOptions = PlanOptions & { name: string; scopes?: string[]; expiresAt?: number };
type ListOptions = CommonOptions & KeyFilter & { idle?: number; expiresWithin?: number };

/** Adds `petstore keys ...`. */
export function addKeysCommands(program: Command, output: Output): void {
  const keys = program
    .command('keys')
    .description('issue and manage API keys')
    .addHelpText('after', '\nExample:\n  petstore keys list --search zoo');
  addIssue(keys, output);
  addList(keys, output);
  addUsage(keys, output);
  addRotate(keys, output);
  addCommandsForOneKey(keys, output);
  addAudit(keys, output);
}

function addIssue(keys: Command, output: Output): void {
  const issue = addCommand(keys, 'issue', 'issue a key and show it once', [
    'keys issue --name "City zoo" --plan free',
    'keys issue --name Reports --plan pro --scopes pets:read --expires-at 2030-12-31',
    'keys issue --name Partner --plan enterprise --per-minute 5000 --per-day 1000000',
  ]);
  addPlanOptions(issue)
    .requiredOption('--name <label>', 'name of the key', parse.keyName)
    .option('--scopes <list>', 'scopes of the key (default: pets:read,pets:write)', parse.scopes)
    .option('--expires-at <iso8601>', 'end of the key (default: never)', parse.expiry)
    .action((options: IssueOptions) =>
      withKeys(
        options,
        async ({ keys, views }) => {
          const { key, record } = await keys.issue(options);
          output.print(views.issuedView(record, key), options.json, () =>
            describe.issued(record, key),
          );
        },
        options,
      ),
    );
}

function addList(keys: Command, output: Output): void {
  addCommand(keys, 'list', 'list keys', [
    'keys list --plan pro --status active',
    'keys list --limit 50 --after KEY_ID',
    "keys list --idle 90 --json | jq -r '.[].id'",
  ])
    .addOption(new Option('--plan <plan>', 'keys with this plan').choices(PLAN_NAMES))
    .addOption(new Option('--status <status>', 'keys in this state').choices(STATUSES))
    .option('--search <text>', 'part of the name, an ID, or the last 4 characters of the key')
    .option('--idle <days>', 'active keys not used for this many days', parse.days)
    .option('--never-used', 'active keys that were never used')
    .option('--expires-within <days>', 'active keys that expire within this many days', parse.days)
    .option('--limit <n>', 'maximum number of results', parse.quantity)
    .option('--after <id>', 'start after this key ID')
    .action(({ idle, expiresWithin, ...options }: ListOptions) =>
      withKeys(options, async ({ keys, list, views }) => {
        const { after, limit } = options;
        if (after !== undefined) await keys.get(after);
        const filter = { ...options, idleDays: idle, expiresWithinDays: expiresWithin };
        const found = (await list.find(filter)).map(views.keyView);
        const isFull = found.length > 0 && found.length === limit;
        const more = isFull ? `\nThere may be more: --after ${found.at(-1)!.id}` : '';
        output.print(
          found,
          options.json,
          () => describe.keys(found, process.stdout.columns) + more,
        );
      }),
    );
}

function addUsage(keys: Command, output: Output): void {
  addCommand(keys, 'usage', 'show how much of its quota a key has used, and its refusals', [
    'keys usage KEY_ID',
  ])
    .argument('<id>', 'key ID')
    .action((id: string, options: CommonOptions) =>
      withKeys(options, async ({ find, usage, report, views }) => {
        const key = await find(id);
        const [used, history] = [
          await usage.of(key.clientId),
          report.of(key.clientId, USAGE_HOURS),
        ];
        const view = views.usageView(key, used, await history);
        output.print(view, options.json, () => describe.usage(view));
      }),
    );
}

function addRotate(keys: Command, output: Output): void {
  const grace = new Option('--grace <duration>', 'how long the old key stays valid')
    .argParser(parse.duration)
    .default(parse.duration('24h'), '24h');
  addCommand(keys, 'rotate', 'issue a new key for the same client', [
    'keys rotate KEY_ID --grace 24h',
  ])
    .argument('<id>', 'key ID')
    .addOption(grace)
    .action((id: string, options: CommonOptions & { grace: number }) =>
      withKeys(options, async ({ keys, views }) => {
        const rotated = await keys.rotate(id, options.grace);
        output.print(views.rotatedView(rotated), options.json, () => describe.rotated(rotated));
      }),
    );
}

/** The commands that show one key, after a change of it if there is one. */
function addCommandsForOneKey(keys: Command, output: Output): void {
  function add<Options>(
    name: string,
    description: string,
    run: (keys: KeysService, id: string, options: Options & CommonOptions) => Promise<unknown>,
    text: (view: KeyView) => string = describe.key,
  ): Command {
    return addCommand(keys, name, description, [`keys ${name} KEY_ID`])
      .argument('<id>', 'key ID')
      .action((id: string, options: Options & CommonOptions & KeyRequest) =>
        withKeys(
          options,
          async ({ keys, find, views }) => {
            await run(keys, id, options);
            const view = views.keyView(await find(id));
            output.print(view, options.json, () => text(view));
          },
          options,
        ),
      );
  }

  add('show', 'show one key', (keys, id) => keys.get(id));

  add<{ yes?: true }>(
    'revoke',
    'revoke a key permanently',
    async (keys, id, { yes }) => {
      const { name } = await keys.get(id);
      await confirm(`Revoke the key ${id} (${name}) permanently?`, yes);
      await keys.revoke(id);
    },
    ({ id }) => `Revoked ${id}.`,
  ).option('--yes', 'do not ask for confirmation');

  add(
    'unban',
    'end the ban of a key',
    (keys, id) => keys.unban(id),
    ({ id }) => `Unbanned ${id}.`,
  );

  addPlanOptions(
    add<PlanOptions>('set-plan', 'change the plan of a client', (keys, id, options) =>
      keys.setPlan(id, options.plan, options),
    ),
  );

  add<{ scopes: string[] }>('set-scopes', 'replace the scopes of a key', (keys, id, { scopes }) =>
    keys.setScopes(id, scopes),
  ).requiredOption('--scopes <list>', 'new scopes of the key', parse.scopes);
}

function addAudit(keys: Command, output: Output): void {
  addCommand(keys, 'audit', 'list changes of keys, and bans, latest first', [
    'keys audit KEY_ID --limit 20',
  ])
    .argument('[id]', 'key ID (default: all keys)')
    .option('--limit <n>', 'maximum number of results', parse.quantity, DEFAULT_AUDIT_LIMIT)
    .action((id: string | undefined, options: CommonOptions & { limit: number }) =>
      withKeys(options, async ({ keys, audit }) => {
        if (id !== undefined) await keys.get(id);
        const records = await audit.find(id, options.limit);
        output.print(records, options.json, () => describe.audit(records));
      }),
    );
}

function addPlanOptions(command: Command): Command {
  const plan = new Option('--plan <plan>', 'plan of the key').choices(PLAN_NAMES);
  return command
    .addOption(plan.makeOptionMandatory())
    .option('--per-minute <n>', 'requests per minute (enterprise only)', parse.quantity)
    .option('--per-day <n>', 'requests per day (enterprise only)', parse.quantity);
}

/** Loads Nest and the service only for a command that runs: help and usage errors answer at once. */
async function withKeys(
  options: CommonOptions,
  work: (context: KeyCommandContext) => Promise<void>,
  request: KeyRequest = {},
): Promise<void> {
  const { openKeys } = await import('./keys.context.js');
  await openKeys(options, request, work);
}
