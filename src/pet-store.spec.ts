import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { loadConfig } from './core/config/config.js';
import { PetStore } from './pet-store.js';
import { startPetStore } from './server.js';

describe(PetStore.name, () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'petstore-test-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('calls the shutdown hooks of modules with the signal', async () => {
    const calls: unknown[] = [];
    @Module({})
    class Hooks {
      onModuleDestroy = (): void => void calls.push('onModuleDestroy');
      beforeApplicationShutdown = (signal?: string): void => void calls.push(signal);
      onApplicationShutdown = (signal?: string): void => void calls.push(signal);
    }
    const DATABASE_URL = `sqlite:${join(directory, 'petstore.db')}`;
    const config = loadConfig({ PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'silent', DATABASE_URL });
    const store = await startPetStore({ config, extensions: [{ module: Hooks }] });
    await store.close('SIGINT');
    expect(calls).toEqual(['onModuleDestroy', 'SIGINT', 'SIGINT']);
  });
});
