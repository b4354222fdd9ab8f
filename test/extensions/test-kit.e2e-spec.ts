import {
  type CanActivate,
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AnyScope, Pets } from 'pet-store-service';
import { startTestStore } from 'pet-store-service/testing';

const RATES = Symbol('RATES');

@Injectable()
class Mailer implements OnModuleInit {
  onModuleInit(): void {
    throw new Error('there is no mail server in tests');
  }

  send(): string {
    return 'sent';
  }
}

@Injectable()
class Reminders {
  constructor(private readonly mailer: Mailer) {}

  remind(): string {
    return this.mailer.send();
  }
}

/** A module that the module of the extension imports. */
@Module({ providers: [Mailer, Reminders], exports: [Mailer, Reminders] })
class MailModule {}

@AnyScope()
@Controller('reminders')
class RemindersController {
  constructor(
    private readonly reminders: Reminders,
    private readonly pets: Pets,
    @Inject(RATES) private readonly rates: object,
  ) {}

  @Get()
  async list(): Promise<object> {
    const pet = await this.pets.find(1n);
    return { reminder: this.reminders.remind(), name: pet?.name, rates: this.rates };
  }
}

@Module({
  imports: [MailModule],
  controllers: [RemindersController],
  providers: [{ provide: RATES, useValue: { toy: 1 } }],
})
class RemindersModule {}

it('overrides providers of every module, of the service too, before the start', async () => {
  await using store = await startTestStore({
    extensions: [{ name: 'reminders', module: RemindersModule }],
    override: (builder) =>
      builder
        .overrideProvider(Mailer)
        .useValue({ send: () => 'faked' })
        .overrideProvider(RATES)
        .useFactory({ factory: () => ({ toy: 2 }) })
        .overrideProvider(Pets)
        .useValue({ find: () => Promise.resolve({ name: 'Rex' }) }),
  });
  const answer = await store.fetch('/v1/reminders', { key: await store.issueKey() });
  expect(await answer.json()).toEqual({ reminder: 'faked', name: 'Rex', rates: { toy: 2 } });
  expect(store.get(Reminders).remind()).toBe('faked');
});

it('overrides a global guard that is provided with useExisting', async () => {
  @Injectable()
  class Closed implements CanActivate {
    canActivate = () => false;
  }
  @Module({ providers: [Closed, { provide: APP_GUARD, useExisting: Closed }] })
  class ClosedModule {}
  await using store = await startTestStore({
    extensions: [{ name: 'closed', module: ClosedModule }],
    override: (builder) => builder.overrideProvider(Closed).useValue({ canActivate: () => true }),
  });
  expect((await store.fetch('/v1/pets', { key: await store.issueKey() })).status).toBe(200);
});

it('overrides a provider if the function returns nothing', async () => {
  await using store = await startTestStore({
    extensions: [{ name: 'reminders', module: RemindersModule }],
    override: (builder) => {
      builder.overrideProvider(Mailer).useValue({ send: () => 'faked' });
    },
  });
  expect(store.get(Reminders).remind()).toBe('faked');
});
