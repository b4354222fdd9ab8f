import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import {
  AnyScope,
  Int64Pipe,
  type KeyBanned,
  Pet,
  type PetEvent,
  Pets,
  type QuotaThreshold,
} from '../../src/index.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { useService } from '../support/start-service.js';

const heard: { name: string; event: unknown }[] = [];
const hear = (name: string, event: unknown) => void heard.push({ name, event });

@Injectable()
class Listener {
  @OnEvent('pet.created')
  created(event: PetEvent): void {
    hear('pet.created', event);
  }

  @OnEvent('pet.created', { prependListener: true, suppressErrors: false })
  async breaks(): Promise<never> {
    return Promise.reject(new Error('no handler'));
  }

  @OnEvent('pet.status_changed')
  changed(event: PetEvent): void {
    hear('pet.status_changed', event);
  }

  @OnEvent('key.banned')
  banned(event: KeyBanned): void {
    hear('key.banned', event);
  }

  @OnEvent('quota.threshold')
  threshold(event: QuotaThreshold): void {
    hear('quota.threshold', event);
  }
}

@AnyScope()
@Controller('adoptions')
class AdoptionsController {
  constructor(
    private readonly pets: Pets,
    private readonly dataSource: DataSource,
  ) {}

  @Post(':petId')
  async adopt(@Param('petId', Int64Pipe) petId: bigint): Promise<object> {
    await this.dataSource.transaction(async (manager) => {
      await this.pets.setStatus(petId, 'sold', manager);
      // The event must wait for the commit.
      for (let turn = 0; turn < 5; turn++) await new Promise((resume) => setImmediate(resume));
      hear('work', undefined);
    });
    return {};
  }

  @Post(':petId/never')
  async fail(@Param('petId', Int64Pipe) petId: bigint): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await this.pets.setStatus(petId, 'pending', manager);
      throw new Error('no');
    });
  }
}

@Module({ controllers: [AdoptionsController], providers: [Listener] })
class AdoptionsModule {}

const of = <Event>(name: string) =>
  heard.filter((each) => each.name === name).map(({ event }) => event as Event);
const count = (name: string, times: number) =>
  eventually(() => Promise.resolve(of(name).length >= times));

describe('events', () => {
  const clock = new FakeClock();
  const { service } = useService({
    clock,
    extensions: [{ name: 'adoptions', module: AdoptionsModule }],
    logger: recordedLog().logger,
    env: { BAN_AFTER_REJECTIONS: '1' },
  });
  beforeEach(() => (heard.length = 0));

  it('emits pet.created once, even if handlers fail', async () => {
    const client = await service.client();
    const headers = { 'idempotency-key': 'one', 'x-request-id': 'r-1' };
    const rex = { name: 'Rex', categoryId: 7 };
    const { id } = (await client.post('/v1/pets', rex, headers)).json();
    await client.post('/v1/pets', rex, headers);
    await client.post('/v1/pets', { name: 'Luna', categoryId: 7, status: 'sold' });
    await count('pet.created', 2);
    const [first, second] = of<PetEvent>('pet.created');
    expect(first).toEqual({
      pet: { id: BigInt(id), name: 'Rex', categoryId: 7n, status: null },
      clientId: client.keyId,
      requestId: 'r-1',
      at: expect.any(Date),
    });
    expect(first!.pet).toBeInstanceOf(Pet);
    expect(second!.pet.status).toBe('sold');
    expect(of('pet.created')).toHaveLength(2);
  });

  it('emits pet.status_changed after the commit, with the request', async () => {
    const client = await service.client();
    const rex = { name: 'Rex', categoryId: 7, status: 'available' };
    const { id } = (await client.post('/v1/pets', rex)).json();
    const failed = await client.send(`/v1/adoptions/${id}/never`, { method: 'POST' });
    expectError(failed, 500, 'internal_error');
    const adopt = () =>
      client.send(`/v1/adoptions/${id}`, { method: 'POST', headers: { 'x-request-id': 'r-2' } });
    await adopt();
    await count('pet.status_changed', 1);
    // The status is already sold.
    await adopt();
    await new Promise((resume) => setImmediate(resume));
    expect(heard.map(({ name }) => name).filter((name) => name !== 'pet.created')).toEqual([
      'work',
      'pet.status_changed',
      'work',
    ]);
    expect(of<PetEvent>('pet.status_changed')).toEqual([
      {
        pet: { ...rex, id: BigInt(id), categoryId: 7n, status: 'sold' },
        clientId: client.keyId,
        requestId: 'r-2',
        at: expect.any(Date),
      },
    ]);
  });

  it('emits key.banned, and each quota threshold once', async () => {
    const client = await service.client({ perMinute: 1_000, perDay: 20 });
    for (let sent = 0; sent < 22; sent++) await client.get('/v1/pets');
    await count('key.banned', 1);
    const { keyId: clientId } = client;
    expect(of('quota.threshold')).toEqual(
      [75, 90, 100].map((percent) => ({ clientId, window: 'day', percent })),
    );
    const [ban, ...others] = of<KeyBanned>('key.banned');
    expect(others).toEqual([]);
    expect(ban).toEqual({ keyId: clientId, clientId, until: expect.any(Date) });
    expect(ban!.until.getTime()).toBe(clock.now() + 300_000);
  });
});
