import { type Ban, nextBan } from './bans.js';

const HOUR_MS = 3_600_000;
const policy = { banAfterRejections: 100, banSeconds: 300 };

describe(nextBan.name, () => {
  it('doubles each further ban within 24 hours, up to one hour', () => {
    let nowMs = 0;
    let ban: Ban | undefined;
    const minutes: number[] = [];
    for (let round = 0; round < 7; round++) {
      ban = nextBan(ban, nowMs, policy);
      minutes.push((ban.until - ban.at) / 60_000);
      nowMs = ban.at + 23 * HOUR_MS;
    }
    expect(minutes).toEqual([5, 10, 20, 40, 60, 60, 60]);
  });

  it('starts over after 24 hours', () => {
    const first = nextBan(undefined, 0, policy);
    expect(nextBan(first, 24 * HOUR_MS - 1, policy).bans).toBe(2);
    expect(nextBan(first, 24 * HOUR_MS, policy)).toMatchObject({ bans: 1 });
  });

  it('is never shorter than the first one is configured to be', () => {
    const ban = nextBan(undefined, 0, { ...policy, banSeconds: 7_200 });
    expect(nextBan(ban, 1, { ...policy, banSeconds: 7_200 }).until).toBe(2 * HOUR_MS + 1);
  });
});
