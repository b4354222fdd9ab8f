// Nest as its guides teach it: techniques/database, techniques/validation, techniques/serialization,
// security/authentication, security/rate-limiting.
import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey, Pet } from './entities.js';
import { ApiKeyGuard, KeyThrottlerGuard } from './guards.js';
import { PetsController } from './pets.controller.js';
import { PetsService } from './pets.service.js';

const UNLIMITED = 1_000_000_000;

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: process.argv[3]!,
      entities: [Pet, ApiKey],
      enableWAL: true,
      prepareDatabase: (database: { pragma(text: string): void }) =>
        database.pragma('synchronous = FULL'),
    }),
    TypeOrmModule.forFeature([Pet, ApiKey]),
    ThrottlerModule.forRoot([
      { name: 'minute', ttl: 60_000, limit: UNLIMITED },
      { name: 'day', ttl: 86_400_000, limit: UNLIMITED },
    ]),
  ],
  controllers: [PetsController],
  providers: [
    PetsService,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_GUARD, useClass: KeyThrottlerGuard },
  ],
})
export class AppModule {}
