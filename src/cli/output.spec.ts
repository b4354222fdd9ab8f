import { Output, table } from './output.js';

describe(Output.name, () => {
  function capture(use: (output: Output) => void) {
    const written = { out: '', err: '' };
    const out = (text: string) => (written.out += text);
    const err = (text: string) => (written.err += text);
    use(new Output(out, err));
    return written;
  }

  it('prints one JSON value with --json, otherwise the text', () => {
    const print = (json?: boolean) =>
      capture((output) => output.print({ value: { id: 1 }, text: 'x' }, json));
    expect(print(true)).toEqual({ out: '{\n  "id": 1\n}\n', err: '' });
    expect(print()).toEqual({ out: 'x\n', err: '' });
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
