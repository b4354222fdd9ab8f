import { Controller, Get, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { AnyScope, Readiness } from '../../src/index.js';
import { startService } from '../support/start-service.js';

class ToySettings {
  @IsInt()
  TOYS_MOST = 3;
}

let isThere = true;

@Injectable()
class Warehouse implements OnModuleInit {
  constructor(private readonly readiness: Readiness) {}

  onModuleInit(): void {
    this.readiness.register('warehouse', () => Promise.resolve(isThere));
    this.readiness.register('broken', () => {
      if (!isThere) throw new Error('gone');
    });
  }
}

@AnyScope()
@Controller('toys')
class ToysController {
  constructor(private readonly settings: ToySettings) {}

  @Get()
  most(): object {
    return { most: this.settings.TOYS_MOST };
  }
}

@Module({ controllers: [ToysController], providers: [Warehouse] })
class ToysModule {}
const extensions = [{ name: 'toys', module: ToysModule, settings: ToySettings }];

describe('an extension', () => {
  it('is given its settings by their class', async () => {
    await using service = await startService({ extensions, env: { TOYS_MOST: '9' } });
    const client = await service.client();
    expect((await client.get('/v1/toys')).json()).toEqual({ most: 9 });
  });

  it('has checks of its own in the readiness', async () => {
    await using service = await startService({ extensions });
    const ready = () => service.anonymous().get('/health/ready');
    expect((await ready()).json()).toEqual({
      status: 'ok',
      checks: { database: 'ok', counters: 'memory', warehouse: 'ok', broken: 'ok' },
    });
    isThere = false;
    const answer = await ready();
    expect(answer.status).toBe(503);
    expect(answer.json()).toEqual({
      status: 'unavailable',
      checks: {
        database: 'ok',
        counters: 'memory',
        warehouse: 'unavailable',
        broken: 'unavailable',
      },
    });
    isThere = true;
  });
});
