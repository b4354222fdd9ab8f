import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { connectRedis, RedisClient } from './redis.client.js';

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
          inject: [Config],
          useFactory: ({ redisUrl }: Config) => redisUrl && connectRedis(redisUrl),
        },
      ],
      exports: [RedisClient],
    };
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}
