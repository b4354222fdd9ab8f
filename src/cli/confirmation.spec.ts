import { PassThrough } from 'node:stream';
import { confirm } from './confirmation.js';

describe(confirm.name, () => {
  function terminal(answer: string, isTTY = true) {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = Object.assign(new PassThrough(), { isTTY });
    input.end(answer);
    const prompt = () => String(output.read() ?? '');
    return { input, output, prompt };
  }

  it.each(['y\n', 'yes\n', ' YES \n'])('continues after %j', async (answer) => {
    const person = terminal(answer);
    await confirm('Revoke it?', false, person);
    expect(person.prompt()).toContain('Revoke it? [y/N] ');
  });

  it.each(['\n', 'n\n', 'yesterday\n', ''])('aborts after %j', async (answer) => {
    await expect(confirm('Revoke it?', false, terminal(answer))).rejects.toThrow(
      /^aborted .*--yes/,
    );
  });

  it('does not prompt in a script or with --yes', async () => {
    const [script, sure] = [terminal('n\n', false), terminal('n\n')];
    await confirm('Revoke it?', false, script);
    await confirm('Revoke it?', true, sure);
    expect(script.prompt() + sure.prompt()).toBe('');
  });
});
