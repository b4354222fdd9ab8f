import { type Ban, nextBan } from './bans.js';

const HOUR_MS = 3_600_000;
const FIRST_MS = 300_000;

describe(nextBan.name, () => {
  it('doubles each further ban within 24 hours, up to one hour', () => {
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
