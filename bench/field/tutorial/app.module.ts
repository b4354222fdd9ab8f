// Nest as its guides teach it: techniques/database, techniques/validation, techniques/serialization,
// security/authentication, security/rate-limiting; the access line of nestjs-pino.
import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { LoggerModule } from 'nestjs-pino';
import { ApiKey, Pet } from './entities.js';
import { DurationInterceptor } from './duration.interceptor.js';
import { ApiKeyGuard, KeyThrottlerGuard } from './guards.js';
import { PetsController } from './pets.controller.js';
import { PetsService } from './pets.service.js';

const UNLIMITED = 1_000_000_000;

function database(url: string): TypeOrmModuleOptions {
  if (url.startsWith('postgres:')) {
    return { type: 'postgres', url, poolSize: 10, parseInt8: true };
  }
  return {
    type: 'better-sqlite3',
    database: url.slice('sqlite:'.length),
    enableWAL: true,
    prepareDatabase: (file: { pragma(text: string): void }) => file.pragma('synchronous = FULL'),
  };
}

@Module({
  imports: [
    LoggerModule.forRoot(),
    TypeOrmModule.forRoot({ ...database(process.argv[2]!), entities: [Pet, ApiKey] }),
    TypeOrmModule.forFeature([Pet, ApiKey]),
    ThrottlerModule.forRoot([
      { name: 'minute', ttl: 60_000, limit: UNLIMITED },
      { name: 'day', ttl: 86_400_000, limit: UNLIMITED },
    ]),
  ],
  controllers: [PetsController],
  providers: [
    PetsService,
    { provide: APP_INTERCEPTOR, useClass: DurationInterceptor },
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: KeyThrottlerGuard },
  ],
})
export class AppModule {}
