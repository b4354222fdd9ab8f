import { NameNumbers, Names } from './names.js';

describe(NameNumbers.name, () => {
  let numbers: NameNumbers;
  beforeEach(() => (numbers = new NameNumbers()));

  it('numbers subjects in the order in which they come, and finds them again', () => {
    const added = ['zoo', 'ark', 'zoo', 'owl'].map((subject) => numbers.add(subject));
    expect(added).toEqual([0, 1, 0, 2]);
    expect(['owl', 'zoo', 'ark', 'zo', 'zoos', ''].map((each) => numbers.find(each))).toEqual([
      2,
      0,
      1,
      undefined,
      undefined,
      undefined,
    ]);
    expect([0, 1, 2].map((number) => numbers.nameOf(number))).toEqual(['zoo', 'ark', 'owl']);
    expect([numbers.size, numbers.length]).toEqual([3, 3]);
  });

  it('tells apart names of any letters and any length', () => {
    const letters = ['\0', '\x01', '\x7f', '\x80', 'ÿ', '\u07ff', '\u0800', '\uffff', '\ud83d'];
    const names = [
      ...letters,
      ...letters.map((letter) => `zoo${letter}`),
      ...letters.map((letter) => `${letter}zoo`),
      '\0\0',
      '🐕',
      'ip:2001:db8::',
      'x'.repeat(70_000),
      'é'.repeat(70_000),
    ];
    const added = names.map((name) => numbers.add(name));
    expect(new Set(added).size).toBe(names.length);
    for (const [index, name] of names.entries()) {
      expect(numbers.find(name)).toBe(added[index]);
      expect(numbers.nameOf(added[index]!)).toBe(name);
    }
  });

  it('gives away again what was freed, to names that are shorter or longer', () => {
    for (const subject of ['zoo', 'ark', 'owl']) numbers.add(subject);
    numbers.remove(1);
    expect([numbers.find('ark'), numbers.nameOf(1), numbers.size]).toEqual([undefined, '', 2]);
    expect(numbers.add('a much longer name')).toBe(1);
    expect(numbers.nameOf(1)).toBe('a much longer name');
    numbers.remove(1);
    expect(numbers.add('ox')).toBe(1);
    expect(['zoo', 'ox', 'owl'].map((each) => numbers.find(each))).toEqual([0, 1, 2]);
  });

  it('keeps what a Map keeps, whoever comes and goes', () => {
    const known = new Map<string, number>();
    let random = 7;
    const next = (below: number): number => {
      random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return (random >> 8) % below;
    };
    for (let step = 0; step < 60_000; step++) {
      const subject = `s${next(step < 30_000 ? 8_000 : 3_000)}`;
      const number = known.get(subject);
      expect(numbers.find(subject)).toBe(number);
      if (number === undefined) {
        known.set(subject, numbers.add(subject));
      } else if (next(3) > 0) {
        numbers.remove(number);
        known.delete(subject);
      }
    }
    expect(numbers.size).toBe(known.size);
    for (const [subject, number] of known) expect(numbers.nameOf(number)).toBe(subject);
    expect(new Set(known.values()).size).toBe(known.size);
  });

  it('takes no more bytes, however many have come and gone', () => {
    for (const name of ['zoo', 'a name that is longer than most are']) numbers.add(name);
    const bytes = () => numbers['names']['longer'].bytes.length;
    for (let round = 0; round < 200; round++) {
      const added = Array.from({ length: 500 }, (_none, at) =>
        numbers.add('ip:'.padEnd(8 + ((round + at) % 35), String(round * 500 + at))),
      );
      for (const number of new Set(added)) numbers.remove(number);
    }
    expect(bytes()).toBeLessThanOrEqual(131_072);
    expect([0, 1].map((number) => numbers.nameOf(number))).toEqual([
      'zoo',
      'a name that is longer than most are',
    ]);
  });

  it('keeps thousands of any length', () => {
    const names = Array.from({ length: 5_000 }, (_none, at) => 'x'.repeat(at % 60) + at);
    expect(names.map((name) => numbers.add(name))).toEqual([...names.keys()]);
    expect(names.map((name) => numbers.find(name))).toEqual([...names.keys()]);
    expect(numbers.find('x')).toBeUndefined();
  });
});

describe(Names.name, () => {
  it('keeps of each number the name that it was set to last, of whatever length', () => {
    const names = new Names();
    const kept = new Map<number, string>();
    for (let step = 0; step < 20_000; step++) {
      const number = (step * 7_919) % 1_500;
      const name = 'é'.repeat((step * 31) % 40) + step;
      names.set(number, name);
      kept.set(number, name);
    }
    for (const [number, name] of kept) expect(names.get(number)).toBe(name);
    names.remove(7);
    expect(names.get(7)).toBe('');
  });
});
