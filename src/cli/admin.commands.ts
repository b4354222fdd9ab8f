import type { Command } from 'commander';
import { addCommand } from './add-command.js';
import type { AdminAction, AdminOptions } from './admin.actions.js';
import * as parse from './arguments.js';
import type { Output } from './output.js';

export function addAdminCommands(program: Command, output: Output): void {
  const admin = program
    .command('admin')
    .description('issue and revoke tokens of the admin API')
    .addHelpText('after', '\nExamples:\n  petstore admin list');
  const add = (name: AdminAction, description: string, example: string): Command =>
    addCommand<AdminOptions>(admin, output, {
      name,
      description,
      examples: [example],
      run: async (options, id) =>
        (await import('./admin.actions.js')).runAdminAction(name, { ...options, id }),
    });
  add('issue', 'issue a token and show it once', 'admin issue --name Ann').requiredOption(
    '--name <name>',
    'name of the token, which the audit trail shows',
    parse.keyName,
  );
  add('list', 'list tokens', 'admin list');
  add('revoke', 'revoke a token permanently', 'admin revoke TOKEN_ID --yes')
    .argument('<id>', 'token ID')
    .option('--yes', 'do not ask for confirmation');
}
