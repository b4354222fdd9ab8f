import cluster from 'node:cluster';
import { availableParallelism, tmpdir } from 'node:os';
import { Module } from '@nestjs/common';
import { defineExtension, loadConfig, type PetStore, startPetStore } from 'pet-store-service';
import { ArenaController } from './arena.controller.js';

@Module({ controllers: [ArenaController] })
class ArenaModule {}

const arena = defineExtension({ name: 'arena', compatibility: '^1.0.0', module: ArenaModule });
const workers = availableParallelism();
const { DATABASE_URL, DATABASE_MAX_CONN = '256' } = process.env;
// 16 connections stay free. A worker has 2 outside of its pool, whose default size is 10.
const poolSize = Math.min(10, Math.floor((Number(DATABASE_MAX_CONN) - 16) / workers) - 2);

function start(port: string): Promise<PetStore> {
  const config = loadConfig({
    // Profiles without PostgreSQL set no URL, but the service needs a database.
    DATABASE_URL: DATABASE_URL ?? `sqlite:${tmpdir()}/arena-${process.pid}.db`,
    DATABASE_POOL_SIZE: String(Math.max(1, poolSize)),
    HOST: '0.0.0.0',
    PORT: port,
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
  });
  return startPetStore({ config, extensions: [arena], migrate: true });
}

if (cluster.isWorker) {
  await start('8080');
} else {
  await start('0').then((store) => store.close()); // migrates once, before the workers start
  for (let worker = 0; worker < workers; worker++) cluster.fork();
}
