import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { Metrics } from '../telemetry/metrics.js';
import { ObservedRedisClient } from './observed.client.js';
import { connectRedis, RedisClient } from './redis.client.js';

async function connect(config: Config, metrics: Metrics): Promise<RedisClient | undefined> {
  const durations = metrics.histogram({
    name: 'redis_command_duration_seconds',
    help: 'Time from asking Redis to its answer, or to when it was given up.',
  });
  if (config.redisUrl === undefined) return undefined;
  return new ObservedRedisClient(await connectRedis(config.redisUrl), durations);
}

/** The one optional client; undefined where one node counts by itself. */
@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(@Inject(RedisClient) private readonly client: RedisClient | undefined) {}

  static forRoot(): DynamicModule {
    return {
      module: RedisModule,
      global: true,
      providers: [
        {
          provide: RedisClient,
          // Behind the database: a start that fails for want of that one would leave this connection open.
          inject: [Config, Metrics, DataSource],
          useFactory: connect,
        },
      ],
      exports: [RedisClient],
    };
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}
