import { type Ban, mergeBans, nextBan } from './bans.js';

const HOUR_MS = 3_600_000;
const FIRST_MS = 300_000;

describe(nextBan.name, () => {
  it('doubles each ban within 24 hours of the previous one, up to one hour', () => {
    let nowMs = 0;
    let ban: Ban | undefined;
    const minutes: number[] = [];
    for (let round = 0; round < 7; round++) {
      ban = nextBan(ban, nowMs, FIRST_MS);
      minutes.push((ban.until - ban.at) / 60_000);
      nowMs = ban.at + 23 * HOUR_MS;
    }
    expect(minutes).toEqual([5, 10, 20, 40, 60, 60, 60]);
  });

  it('starts over after 24 hours', () => {
    const first = nextBan(undefined, 0, FIRST_MS);
    expect(nextBan(first, 24 * HOUR_MS - 1, FIRST_MS).bans).toBe(2);
    expect(nextBan(first, 24 * HOUR_MS, FIRST_MS)).toMatchObject({ bans: 1 });
  });

  it('is never shorter than the first one is configured to be', () => {
    const ban = nextBan(undefined, 0, 2 * HOUR_MS);
    expect(nextBan(ban, 1, 2 * HOUR_MS).until).toBe(2 * HOUR_MS + 1);
  });
});

describe(mergeBans.name, () => {
  const ban: Ban = { at: 5, until: 90, bans: 2 };
  const lifted: Ban = { ...ban, until: 0 };
  const [shorter, later] = [
    { at: 6, until: 80, bans: 1 },
    { at: 95, until: 99, bans: 3 },
  ];
  const rows: [what: string, known: Ban | undefined, other: Ban, merged: Ban][] = [
    ['the only ban', undefined, ban, ban],
    ['the later end, and the later start', ban, shorter, { ...ban, at: 6 }],
    ['the same in the other order', shorter, ban, { ...ban, at: 6 }],
    ['a later ban', ban, later, later],
    ['the end of a lifted ban', ban, lifted, lifted],
    ['a lifted ban, which was recorded before', lifted, ban, lifted],
    ['a lifted ban, although an earlier one was longer', lifted, { ...ban, at: 4 }, lifted],
    ['a ban that began after another was lifted', lifted, shorter, shorter],
    ['a ban, where an earlier one was lifted', shorter, lifted, shorter],
  ];

  it.each(rows)('keeps %s', (_what, known, other, merged) => {
    expect(mergeBans(known, other)).toEqual(merged);
  });
});
