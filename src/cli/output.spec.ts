import { Output, table } from './output.js';

describe(Output.name, () => {
  const said = { out: '', err: '' };
  const output = new Output(
    (text) => void (said.out += text),
    (text) => void (said.err += text),
  );
  beforeEach(() => Object.assign(said, { out: '', err: '' }));

  it('prints one JSON value and nothing else where JSON is asked for', () => {
    output.print({ id: 'x' }, true, () => {
      throw new Error('nobody reads this');
    });
    expect(said).toEqual({ out: '{\n  "id": "x"\n}\n', err: '' });
  });

  it('prints what a person reads otherwise', () => {
    output.print({}, undefined, 'one');
    output.print({}, false, () => 'two');
    expect(said).toEqual({ out: 'one\ntwo\n', err: '' });
  });

  it('complains in one line, whatever it is told', () => {
    output.complain('\nerror: wrong\n  (did you mean\r\nright?)\n\n');
    expect(said).toEqual({ out: '', err: 'error: wrong (did you mean right?)\n' });
  });

  it('complains in full where there are several faults', () => {
    output.complainInFull('wrong:\n- one\n- two');
    expect(said).toEqual({ out: '', err: 'wrong:\n- one\n- two\n' });
  });

  it('raw() adds nothing', () => {
    output.raw('{}');
    expect(said.out).toBe('{}');
  });
});

describe(table.name, () => {
  it('sets columns as wide as they have to be, with no blanks at the end', () => {
    expect(
      table(
        ['ID', 'NAME'],
        [
          ['key_1', 'Zoo'],
          ['k', ''],
        ],
      ),
    ).toBe('ID     NAME\nkey_1  Zoo\nk');
  });

  it('goes by the columns of a terminal, of which some characters take two, and accents none', () => {
    expect(table(['動物園🐶', 'Zoe\u0301', 'Zoo'], [['a', 'b', 'c']])).toBe(
      '動物園🐶  Zoe\u0301  Zoo\na         b    c',
    );
  });

  it('has room for any number of rows', () => {
    const rows = Array.from({ length: 150_000 }, () => ['a']);
    expect(table(['A'], rows)).toHaveLength(300_001);
  });
});
