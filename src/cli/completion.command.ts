import { Argument, Command } from 'commander';
import type { Output } from './output.js';

/** A command as a shell completes it. */
interface Completable {
  /** The words that lead to it, without `petstore`. */
  path: readonly string[];
  /** Its commands, options and choices of its argument, with what they mean. */
  words: readonly { text: string; meaning: string }[];
  /** What may follow an option; an option that takes something else is in it with no choices. */
  values: readonly { option: string; choices: readonly string[] }[];
}

const WRITERS = { bash, zsh, fish } as const;

/** `petstore completion SHELL` */
export function completionCommand(root: Command, output: Output): Command {
  return new Command('completion')
    .description('print what makes a shell complete commands and options')
    .addArgument(new Argument('<shell>', 'of that shell').choices(Object.keys(WRITERS)))
    .option('--json', 'print JSON')
    .action((shell: keyof typeof WRITERS, { json }: { json?: true }) => {
      const script = WRITERS[shell](completables(root));
      output.print({ shell, script }, json, script.trimEnd());
    });
}

function completables(command: Command, path: readonly string[] = []): Completable[] {
  const options = command.createHelp().visibleOptions(command);
  const [argument] = command.registeredArguments;
  const own: Completable = {
    path,
    words: [
      ...command.commands.map((each) => ({ text: each.name(), meaning: each.description() })),
      ...(argument?.argChoices ?? []).map((text) => ({ text, meaning: argument!.description })),
      ...options.map(({ long, description }) => ({ text: long!, meaning: description })),
    ],
    values: options
      .filter(({ required }) => required)
      .map(({ long, argChoices }) => ({ option: long!, choices: argChoices ?? [] })),
  };
  return [own, ...command.commands.flatMap((each) => completables(each, [...path, each.name()]))];
}

/** One script for both: zsh understands what bash does, once it is told to. */
function bash(commands: readonly Completable[]): string {
  const paths = commands.map(({ path }) => `'${path.join(' ')}'`);
  // The longest first: the pattern of a path fits what is below it, too.
  const cases = [...commands]
    .reverse()
    .flatMap(({ path, words, values }) => [
      ...values.map(
        ({ option, choices }) =>
          `    '${path.join(' ')} ${option}') words='${choices.join(' ')}' ;;`,
      ),
      `    '${path.join(' ')} '*) words='${words.map(({ text }) => text).join(' ')}' ;;`,
    ]);
  return `# petstore completion for bash: source <(petstore completion bash)
_petstore() {
  local path='' words='' word
  local before="\${COMP_WORDS[COMP_CWORD - 1]}" current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${paths.filter((path) => path !== "''").join(' | ')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $before" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
# Files where none of these words fits.
complete -o default -F _petstore petstore
`;
}

function zsh(commands: readonly Completable[]): string {
  return `#compdef petstore
# petstore completion for zsh: source <(petstore completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bash(commands).split('\n').slice(1).join('\n')}`;
}

function fish(commands: readonly Completable[]): string {
  const lines = commands.flatMap(({ path, words, values }) => {
    const condition = path.length === 0 ? '__fish_use_subcommand' : underPath(path);
    return words.map(({ text, meaning }) => {
      const value = values.find(({ option }) => option === text);
      const isOption = text.startsWith('--');
      const what = isOption ? `-l ${text.slice(2)}` : `-a ${text}`;
      const takes = value === undefined ? '' : ' -r';
      const choices = value?.choices.length ? ` -f -a '${value.choices.join(' ')}'` : '';
      const rest = `${isOption ? '' : ' -f'}${takes}${choices} -d '${meaning.replace(/['\\]/g, '\\$&')}'`;
      return `complete -c petstore -n '${condition}' ${what}${rest}`;
    });
  });
  return `# petstore completion for fish: petstore completion fish | source\n${lines.join('\n')}\n`;
}

function underPath(path: readonly string[]): string {
  return path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
}
