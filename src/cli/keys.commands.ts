import { type Command, Option } from 'commander';
import { ADMIN_ROLES } from '../core/keys/admin-token.entity.js';
import { addCommandTo } from './add-command.js';
import type { AdminAction, AdminOptions } from './admin.actions.js';
import * as parse from './arguments.js';
import type { KeyAction, KeyOptions } from './keys.actions.js';
import type { Output } from './output.js';

const PLAN_HINT = 'free, pro, business, enterprise, or one of the configuration file';
const STATUSES = ['active', 'banned', 'disabled', 'expired', 'revoked'];

export function addKeysCommands(program: Command, output: Output): void {
  const keys = program
    .command('keys')
    .description('issue and manage API keys')
    .addHelpText('after', '\nExamples:\n  petstore keys list --search zoo');
  const add: Add = (name, description, ...examples) =>
    addCommandTo(keys, output)<KeyOptions>(name, description, examples, async (options, id) =>
      (await import('./keys.actions.js')).runKeyAction(name, { ...options, id }),
    );
  addIssue(add);
  addList(add);
  addCommandsOfOneKey(add);
  add('audit', 'list key changes and bans, newest first', 'keys audit KEY_ID --limit 20')
    .argument('[id]', 'key ID (default: all keys)')
    .option('--limit <n>', 'maximum number of results', parse.quantity, 100);
}

type Add = (name: KeyAction, description: string, ...examples: string[]) => Command;

function addIssue(add: Add): void {
  const issue = add(
    'issue',
    'issue a key and show it once',
    'keys issue --name "City zoo" --plan free',
    'keys issue --name Reports --plan pro --scopes pets:read --expires-at 2030-12-31',
    'keys issue --name Partner --plan enterprise --per-minute 5000 --per-day 1000000',
  );
  addPlanOptions(issue)
    .requiredOption('--name <label>', 'name of the key', parse.keyName)
    .option('--scopes <list>', 'scopes of the key (default: pets:read,pets:write)', parse.scopes)
    .option('--expires-at <iso8601>', 'expiry date or time (default: never)', parse.expiry)
    .option('--from <list>', 'addresses and CIDR ranges (default: any)', parse.addresses);
}

function addList(add: Add): void {
  add('list', 'list keys', 'keys list --plan pro --status active', 'keys list --idle 90 --json')
    .option('--plan <plan>', `keys with this plan (${PLAN_HINT})`)
    .addOption(new Option('--status <status>', 'keys in this state').choices(STATUSES))
    .option('--search <text>', 'part of the name, an ID, or the key or its last 4 characters')
    .option('--idle <days>', 'valid keys not used for this many days', parse.days)
    .option('--never-used', 'valid keys that were never used')
    .option('--expires-within <days>', 'valid keys that expire within this many days', parse.days)
    .option('--limit <n>', 'maximum number of results', parse.quantity)
    .option('--after <id>', 'start after this key ID');
}

function addCommandsOfOneKey(addAny: Add): void {
  const add = (name: KeyAction, description: string, example = '') =>
    addAny(name, description, `keys ${name} KEY_ID${example}`).argument('<id>', 'key ID');
  add('show', 'show one key');
  add('usage', "show a key's usage and rejected requests");
  add('rotate', 'issue a new key for the same client', ' --grace 24h').option(
    '--grace <duration>',
    'validity of the old key, in s, m, h or d (default: 24h)',
    parse.duration,
  );
  add('revoke', 'revoke a key permanently', ' --yes').option(
    '--yes',
    'do not ask for confirmation',
  );
  add('disable', 'reject a key until it is enabled again');
  add('enable', 'accept a disabled key again');
  add('unban', 'end the ban of a client');
  addPlanOptions(add('set-plan', 'change the plan of a client', ' --plan business'));
  add('rename', 'change the name of a key', ' --name "City zoo"').requiredOption(
    '--name <label>',
    'new name of the key',
    parse.keyName,
  );
  add('set-expiry', 'change the expiry of a key', ' --expires-at 2030-12-31').requiredOption(
    '--expires-at <iso8601>',
    'expiry date or time, or never',
    parse.expiryOrNever,
  );
  add('set-scopes', 'replace the scopes of a key', ' --scopes pets:read').requiredOption(
    '--scopes <list>',
    'new scopes of the key',
    parse.scopes,
  );
  add('set-from', 'change the addresses of a key', ' --from 203.0.113.0/24').requiredOption(
    '--from <list>',
    'addresses and CIDR ranges that may use the key, or any',
    parse.addressesOrAny,
  );
}

function addPlanOptions(command: Command): Command {
  return command
    .requiredOption('--plan <plan>', `plan of the key (${PLAN_HINT})`)
    .option('--per-minute <n>', 'requests per minute (enterprise only)', parse.quantity)
    .option('--per-day <n>', 'requests per day (enterprise only)', parse.quantity);
}

export function addAdminCommands(program: Command, output: Output): void {
  const admin = program
    .command('admin')
    .description('issue and revoke tokens of the admin API')
    .addHelpText('after', '\nExamples:\n  petstore admin list');
  const add = (name: AdminAction, description: string, example: string) =>
    addCommandTo(admin, output)<AdminOptions>(name, description, [example], async (options, id) =>
      (await import('./admin.actions.js')).runAdminAction(name, { ...options, id }),
    );
  add('issue', 'issue a token and show it once', 'admin issue --name Ann --role viewer')
    .requiredOption(
      '--name <name>',
      'name of the token, which the audit trail shows',
      parse.keyName,
    )
    .addOption(
      new Option('--role <role>', 'an operator may do everything, a viewer may only read')
        .choices(ADMIN_ROLES)
        .default('operator'),
    )
    .option('--expires-at <iso8601>', 'expiry date or time (default: never)', parse.expiry);
  add('list', 'list tokens', 'admin list');
  add('revoke', 'revoke a token permanently', 'admin revoke TOKEN_ID --yes')
    .argument('<id>', 'token ID')
    .option('--yes', 'do not ask for confirmation');
}
