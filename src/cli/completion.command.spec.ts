import { spawnSync } from 'node:child_process';
import { Output } from './output.js';
import { runProgram } from './program.js';

describe('petstore completion', () => {
  async function script(shell: string): Promise<string> {
    let out = '';
    expect(await runProgram(['completion', shell], new Output((text) => void (out += text)))).toBe(
      0,
    );
    return out;
  }

  it.each([
    [['k'], ['keys']],
    [['keys', 're'], ['revoke']],
    [['keys', 'ro'], ['rotate']],
    [['keys', 'issue', '--plan', 'b'], ['business']],
    [['keys', 'issue', '--name', 'list', '--pl'], ['--plan']],
    [
      ['keys', 'list', '--status', ''],
      ['active', 'banned', 'expired', 'revoked'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
  ])('completes %j in bash', async (words, expected) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const test = `COMP_WORDS=(petstore ${quoted}); COMP_CWORD=${words.length}; _petstore; echo "\${COMPREPLY[@]}"`;
    const shell = spawnSync('bash', ['-c', `${await script('bash')}\n${test}`], {
      encoding: 'utf8',
    });
    expect(shell.stderr).toBe('');
    expect(shell.stdout.trim().split(' ')).toEqual(expect.arrayContaining(expected));
    expect(shell.stdout).not.toMatch(words.at(-1) === '' ? /--pets/ : / (?!-)/);
  });

  it('leaves it to bash to complete files, those of backup and restore too', async () => {
    const test = 'COMP_WORDS=(petstore backup ./b); COMP_CWORD=2; _petstore; complete -p petstore';
    const { stdout } = spawnSync(
      'bash',
      ['-c', `${await script('bash')}\n${test}; echo "\${#COMPREPLY[@]}"`],
      {
        encoding: 'utf8',
      },
    );
    expect(stdout).toBe('complete -o default -F _petstore petstore\n0\n');
  });

  it('knows for zsh what it knows for bash', async () => {
    expect(await script('zsh')).toMatch(/^#compdef petstore\n[^]*bashcompinit\n_petstore\(\)/);
  });

  it('tells fish what each word means', async () => {
    const lines = (await script('fish')).split('\n');
    expect(lines).toContain(
      `complete -c petstore -n '__fish_use_subcommand' -a keys -f -d 'issue and manage API keys'`,
    );
    expect(
      lines.find((line) => line.includes('seen_subcommand_from issue') && line.includes('-l plan')),
    ).toMatch(/ -r -f -a 'free pro business enterprise' /);
  });
});
