import { PassThrough } from 'node:stream';
import { confirm, type Terminal } from './confirmation.js';

describe(confirm.name, () => {
  function terminal(answer: string, isTTY = true): Terminal & { said: () => string } {
    const input = Object.assign(new PassThrough(), { isTTY });
    const output = Object.assign(new PassThrough(), { isTTY });
    input.end(answer);
    let said = '';
    output.on('data', (chunk) => (said += String(chunk)));
    return { input, output, said: () => said };
  }

  it.each(['y\n', 'yes\n', ' YES \n'])('goes on at %j', async (answer) => {
    const person = terminal(answer);
    await confirm('Revoke it?', false, person);
    expect(person.said()).toContain('Revoke it? [y/N] ');
  });

  it.each(['\n', 'n\n', 'yesterday\n', ''])('does nothing at %j', async (answer) => {
    await expect(confirm('Revoke it?', false, terminal(answer))).rejects.toThrow('--yes');
  });

  it('asks neither a script nor who has said yes', async () => {
    const script = terminal('n\n', false);
    const sure = terminal('n\n');
    await confirm('Revoke it?', false, script);
    await confirm('Revoke it?', true, sure);
    expect(script.said() + sure.said()).toBe('');
  });
});
