import { ScriptedRedis } from '../../test/support/scripted-redis.js';
import { redisFacts, RedisLoadingError } from './redis.facts.js';

const bulk = (text: string) => `$${text.length}\r\n${text}`;

describe(redisFacts.name, () => {
  it('says that a Redis loads its data, and does not wait for it', async () => {
    const info = 'redis_mode:standalone\r\nloading:1\r\nloading_eta_seconds:100000';
    await using redis = await ScriptedRedis.start((name) =>
      name === 'INFO' ? bulk(info) : '-LOADING Redis is loading the dataset in memory',
    );
    const facts = redisFacts(`redis://127.0.0.1:${redis.port}/1`, false);
    await expect(facts).rejects.toThrow(RedisLoadingError);
  });

  it('says that a password is wrong', async () => {
    const refusal = 'WRONGPASS invalid username-password pair or user is disabled.';
    await using redis = await ScriptedRedis.start((name) =>
      name === 'AUTH' ? `-${refusal}` : '-NOAUTH Authentication required.',
    );
    const facts = redisFacts(`redis://:wrong@127.0.0.1:${redis.port}`, false);
    await expect(facts).rejects.toThrow(refusal);
  });
});
