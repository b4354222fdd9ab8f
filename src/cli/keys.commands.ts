import { Command, Option } from 'commander';
import type { KeysService, OwnLimits } from '../keys/keys.service.js';
import { PLAN_NAMES, type PlanName } from '../rate-limits/plan.js';
import { duration, keyName, moment, quantity, scopeList } from './arguments.js';
import { describeIssued, describeKey, describeKeys, describeUsage } from './keys.output.js';
import { type Output, UsageError } from './output.js';

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
    .option('--expires-at <iso8601>', 'when it ends (default: never)', moment)
    .option('--json', 'print JSON')
    .action((options: IssueOptions) =>
      withKeys(async (service, describe) => {
        const { key, record } = await service.issue(options);
        output.print(describe.issued(record, key), options.json, () => describeIssued(record, key));
      }),
    );

  keys
    .command('list')
    .description('list all keys')
    .option('--json', 'print JSON')
    .action((options: JsonOption) =>
      withKeys(async (service, describe) => {
        const views = await Promise.all((await service.list()).map((key) => describe.key(key)));
        output.print(views, options.json, () => describeKeys(views));
      }),
    );

  forKey(keys, 'show', 'show one key').action((id: string, options: JsonOption) =>
    withKeys(async (service, describe) => {
      const view = await describe.key(await service.get(id));
      output.print(view, options.json, () => describeKey(view));
    }),
  );

  forKey(keys, 'usage', 'show what a key has used of its quotas').action(
    (id: string, options: JsonOption) =>
      withKeys(async (service, describe) => {
        const usage = await describe.usage(await service.get(id));
        output.print(usage, options.json, () => describeUsage(usage));
      }),
  );

  forKey(keys, 'rotate', 'issue a new key for the same client')
    .option('--grace <duration>', 'how long the old key stays valid', duration, duration('24h'))
    .action((id: string, options: JsonOption & { grace: number }) =>
      withKeys(async (service, describe) => {
        const { key, record } = await service.rotate(id, options.grace);
        output.print(describe.issued(record, key), options.json, () => describeIssued(record, key));
      }),
    );

  forKey(keys, 'revoke', 'revoke a key').action((id: string, options: JsonOption) =>
    withKeys(async (service, describe) => {
      const view = await describe.key(await service.revoke(id));
      output.print(view, options.json, `Revoked ${id}.`);
    }),
  );

  forKey(keys, 'unban', 'end the ban of a key').action((id: string, options: JsonOption) =>
    withKeys(async (service, describe) => {
      const view = await describe.key(await service.unban(id));
      output.print(view, options.json, `The ban of ${id} is over.`);
    }),
  );

  planOptions(forKey(keys, 'set-plan', 'change the plan of a client')).action(
    (id: string, options: JsonOption & OwnLimits & { plan: PlanName }) =>
      withKeys(async (service, describe) => {
        const view = await describe.key(await service.setPlan(id, options.plan, options));
        output.print(view, options.json, () => describeKey(view));
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

type Describe = import('./key-views.js').KeyViews;

/** Nest is loaded only for a command that is really run: `--help` and typing errors answer at once. */
async function withKeys(
  work: (service: KeysService, describe: Describe) => Promise<void>,
): Promise<void> {
  const [{ asOperator }, { KeysService, OwnLimitsError }, { KeyViews }, { Usage }] =
    await Promise.all([
      import('./operator.js'),
      import('../keys/keys.service.js'),
      import('./key-views.js'),
      import('../rate-limits/usage.js'),
    ]);
  try {
    await asOperator((app) => work(app.get(KeysService), new KeyViews(app.get(Usage))));
  } catch (error) {
    if (error instanceof OwnLimitsError) throw new UsageError(error.message);
    throw error;
  }
}
