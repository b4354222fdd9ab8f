import { Output, table } from './output.js';

describe(Output.name, () => {
  function capture(use: (output: Output) => void, isTerminal = false) {
    const written = { out: '', err: '' };
    const out = (text: string | Uint8Array) => (written.out += String(text));
    const err = (text: string) => (written.err += text);
    use(new Output(out, err, isTerminal));
    return written;
  }

  it('prints one JSON value with --json, otherwise the text', () => {
    const print = (json?: boolean) =>
      capture((output) => output.print({ value: { id: 1 }, text: 'x' }, json));
    expect(print(true)).toEqual({ out: '{\n  "id": 1\n}\n', err: '' });
    expect(print()).toEqual({ out: 'x\n', err: '' });
  });

  it('prints a secret alone for a script, with its text on standard error', () => {
    const printed = { value: { key: 's' }, text: 'Store it now.', secret: 's' };
    const print = (isTerminal: boolean, json?: boolean) =>
      capture((output) => output.print(printed, json), isTerminal);
    expect(print(false)).toEqual({ out: 's\n', err: 'Store it now.\n' });
    expect(print(true)).toEqual({ out: 's\n\nStore it now.\n', err: '' });
    expect(print(false, true)).toEqual({ out: '{\n  "key": "s"\n}\n', err: '' });
  });

  it('prints how to withdraw a secret that could not be printed', () => {
    const printed = { value: {}, text: 'x', secret: 's', undo: 'petstore keys revoke k' };
    for (const [isTerminal, asJson] of [[false], [true], [false, true]] as const) {
      let err = '';
      const fail = (_text: unknown, done?: (error: Error) => void) => done?.(new Error('full'));
      new Output(fail, (text) => (err += text), isTerminal).print(printed, asJson);
      expect(err).toMatch(/^error: the secret was issued, .*; run petstore keys revoke k$/m);
    }
  });

  it('repeats no key in an error', () => {
    const { err } = capture((output) => output.error(`no key has the ID psk_${'a'.repeat(49)}`));
    expect(err).toBe('no key has the ID psk_...\n');
  });

  it('prints an error in one line, with control characters escaped', () => {
    const { out, err } = capture((output) =>
      output.error('\nerror: bad \u001b[31mname\u0007 \u202ex\n  (did you mean\r\nthis?)\n'),
    );
    expect({ out, err }).toEqual({
      out: '',
      err: 'error: bad \\u001b[31mname\\u0007 \\u202ex (did you mean this?)\n',
    });
  });
});

describe(table.name, () => {
  it('aligns columns by their width on a terminal', () => {
    const text = table('動物,NAME', [
      ['a', 'Zoe\u0301'],
      ['', 'x'],
    ]);
    expect(text).toBe('動物  NAME\na     Zoe\u0301\n      x');
  });
});
