import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Readiness } from '../../src/index.js';
import { useService } from '../support/start-service.js';

class ToySettings {
  @IsInt()
  TOYS_MOST = 3;
}

let isOpen = true;

@Injectable()
class Warehouse implements OnModuleInit {
  constructor(
    private readonly readiness: Readiness,
    readonly settings: ToySettings,
  ) {}

  onModuleInit(): void {
    this.readiness.register('warehouse', () => Promise.resolve(isOpen));
  }
}

@Module({ providers: [Warehouse] })
class ToysModule {}

describe('an extension', () => {
  const { service } = useService({
    extensions: [{ name: 'toys', module: ToysModule, settings: ToySettings }],
    env: { TOYS_MOST: '9' },
  });

  it('injects settings by their class', () => {
    expect(service.store.app.get(Warehouse).settings.TOYS_MOST).toBe(9);
  });

  it.each([
    [true, 200, { database: 'ok', counters: 'memory', warehouse: 'ok' }],
    [false, 503, { database: 'ok', counters: 'memory', warehouse: 'unavailable' }],
  ])('adds a check to the readiness: %s', async (result, status, checks) => {
    isOpen = result;
    const answer = await service.anonymous().get('/health/ready');
    expect([answer.status, answer.json().checks]).toEqual([status, checks]);
  });
});
