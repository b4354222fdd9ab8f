import { Output } from './output.js';
import { EXAMPLES } from './examples.js';
import { runProgram } from './program.js';

describe('the help of a command', () => {
  const help = async (path: string) => {
    let out = '';
    const [, ...argv] = path.split(' ');
    await runProgram([...argv, '--help'], new Output((text) => void (out += text)));
    return out;
  };
  const namesIn = (text: string) => {
    const [, commands = ''] = /\nCommands:\n([^]*?)\n(?:\n|$)/.exec(text) ?? [];
    return [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!);
  };

  it('has examples at every level', async () => {
    const paths = ['petstore'];
    for (const path of paths) {
      const names = namesIn(await help(path)).filter((name) => name !== 'help');
      paths.push(...names.map((name) => `${path} ${name}`));
      expect(`${path}: ${EXAMPLES[path]?.length ?? 0}`).toMatch(/: [1-9]$/);
    }
    expect(paths.length).toBeGreaterThan(10);
  });
});
