import {
  type CallHandler,
  ConflictException,
  Controller,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import { AnyScope, Idempotent, Pet, type PetEvent } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

/** What happens in the transaction around an operation, after its handler. */
const after: Record<string, () => Promise<unknown>> = {};
const heard: { name: string; isStored: boolean }[] = [];

/** Runs an operation in a transaction if the request has the header `around`. */
@Injectable()
class Transactional implements NestInterceptor {
  constructor(private readonly dataSource: DataSource) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { around } = context.switchToHttp().getRequest().headers as { around?: string };
    if (around === undefined) return next.handle();
    return from(
      this.dataSource.transaction(async () => {
        const result = lastValueFrom<unknown>(next.handle());
        // An error of the handler does not roll back.
        const response = around === 'swallow' ? await result.catch(() => ({})) : await result;
        await after[around]?.();
        return response;
      }),
    );
  }
}

@AnyScope()
@Controller('kennels')
class KennelsController {
  constructor(private readonly dataSource: DataSource) {}

  @Post()
  @Idempotent()
  async fill(): Promise<void> {
    await this.dataSource.transaction((manager) =>
      manager.insert(Pet, { name: 'Boarder', categoryId: 1n }),
    );
    throw new ConflictException('full');
  }
}

@Injectable()
class Listener {
  constructor(private readonly dataSource: DataSource) {}

  @OnEvent('pet.created')
  async created({ pet: { id, name } }: PetEvent): Promise<void> {
    heard.push({ name, isStored: await this.dataSource.getRepository(Pet).existsBy({ id }) });
  }
}

@Module({
  controllers: [KennelsController],
  providers: [Listener, { provide: APP_INTERCEPTOR, useClass: Transactional }],
})
class KennelsModule {}

describe('a transaction around an operation', () => {
  const { service, client } = useService({ extensions: [{ module: KennelsModule }] });
  const dataSource = () => service.store.app.get(DataSource);
  const pets = (name: string) => dataSource().getRepository(Pet).countBy({ name });
  const records = (idempotencyKey: string) =>
    dataSource().getRepository('IdempotencyRecord').countBy({ idempotencyKey });
  const create = (name: string, headers: Record<string, string>) =>
    client.post('/v1/pets', { name, categoryId: 7 }, headers);
  const inject = (name: string) =>
    service.store.app.inject({
      method: 'POST',
      url: '/v1/pets',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      payload: { name, categoryId: 7 },
    });

  describe.each([
    ['without', 0],
    ['with', 1],
  ])('%s an Idempotency-Key', (presence, stored) => {
    const named = (name: string) => `${name} ${presence}`;
    const keyOf = (name: string): Record<string, string> =>
      stored === 1 ? { 'idempotency-key': name } : {};

    it('is one with it: a rollback stores neither pet nor record, and emits no event', async () => {
      const name = named('undone');
      after['fail'] = () => Promise.reject(new ConflictException('changed its mind'));
      expectError(await create(name, { around: 'fail', ...keyOf(name) }), 409, 'conflict');
      expect([await pets(name), await records(name)]).toEqual([0, 0]);
      const again = await create(name, keyOf(name));
      expect(again.status).toBe(201);
      expect(again.headers).not.toHaveProperty('idempotent-replayed');
      await eventually(() => Promise.resolve(heard.some((each) => each.name === name)));
      expect(heard.filter((each) => each.name === name)).toEqual([{ name, isStored: true }]);
    });

    it('is one with it: the commit stores both, and then emits the event', async () => {
      const name = named('kept');
      after['look'] = async () => {
        // Nobody else sees the pet, and no event is emitted, before the commit.
        const response = await client.get('/v1/pets?limit=100');
        expect(response.text).not.toContain(`"${name}"`);
        expect(heard.filter((each) => each.name === name)).toEqual([]);
      };
      const first = await create(name, { around: 'look', ...keyOf(name) });
      expect(first.status).toBe(201);
      expect([await pets(name), await records(name)]).toEqual([1, stored]);
      await eventually(() => Promise.resolve(heard.some((each) => each.name === name)));
      expect(heard.filter((each) => each.name === name)).toEqual([{ name, isStored: true }]);
    });
  });

  it('returns the stored response to a repeat', async () => {
    const headers = { around: 'nothing', 'idempotency-key': 'repeated' };
    const first = await create('repeated', headers);
    const again = await create('repeated', headers);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await pets('repeated')).toBe(1);
  });

  it('stores nothing of a handler that failed, although it commits', async () => {
    const headers = { around: 'swallow', 'idempotency-key': 'swallowed' };
    expect((await client.post('/v1/kennels', {}, headers)).status).toBe(201);
    expect([await pets('Boarder'), await records('swallowed')]).toEqual([0, 0]);
  });

  it('is not that of a request that is injected in it', async () => {
    let injected: ReturnType<typeof inject>;
    after['inject'] = async () => {
      // On SQLite, it waits for the end of this transaction.
      injected = inject('injected');
      await new Promise((resume) => setTimeout(resume, 50));
      throw new ConflictException('changed its mind');
    };
    expectError(await create('around', { around: 'inject' }), 409, 'conflict');
    expect((await injected!).statusCode).toBe(201);
    expect([await pets('around'), await pets('injected')]).toEqual([0, 1]);
  });
});
