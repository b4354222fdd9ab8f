import {
  Controller,
  Get,
  Injectable,
  Module,
  Res,
  SerializeOptions,
  type Type,
} from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IsInt } from 'class-validator';
import {
  AnyScope,
  ApiErrors,
  bigintColumn,
  BodyLimit,
  Database,
  defineErrors,
  Idempotent,
  Public,
  RequireScope,
  TableGateway,
} from 'pet-store-service';
import { Column, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { startAndClose } from '../support/start-service.js';

class ToysModule {}
const toys = { name: 'toys', compatibility: '^1.0.0', module: ToysModule };
const errors = defineErrors({ toy_broken: { status: 409, meaning: 'The toy is broken.' } });
const scopes = { 'toys:read': 'Read toys.' };
class CreateToys {
  up(): void {}
}
class Settings {
  toysPerPet = 3;
}
@Injectable()
class Verifier {
  verify(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

/** The manifest with a module of one operation, `Toys.list`. */
function serving(decorators: (ClassDecorator & MethodDecorator)[], path = 'toys', more = {}) {
  @Controller(path)
  class Toys {
    @Get()
    list(): object {
      return {};
    }
  }
  const method = Object.getOwnPropertyDescriptor(Toys.prototype, 'list')!;
  for (const decorate of decorators) {
    if (decorate === PUBLIC) decorate(Toys);
    else decorate(Toys.prototype, 'list', method);
  }
  @Module({ controllers: [Toys] })
  class ServingModule {}
  return { ...toys, ...more, module: ServingModule };
}
const PUBLIC = Public() as ClassDecorator & MethodDecorator;
const ANY = AnyScope();
const method = (decorate: MethodDecorator) => decorate as ClassDecorator & MethodDecorator;

/** The manifest with a module that has a table gateway of an entity. */
function storing(entity: Type, registered: Type[] = [entity]) {
  @Injectable()
  class ToysService {
    constructor(database: Database) {
      new TableGateway<object, never>(entity, database);
    }
  }
  @Module({ imports: [TypeOrmModule.forFeature(registered)], providers: [ToysService] })
  class StoringModule {}
  return { ...toys, module: StoringModule };
}

@Entity('dolls')
class Doll {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn }) id!: bigint;
  @DeleteDateColumn({ name: 'deleted_at' }) deletedAt!: Date;
}
@Entity('balls')
class Ball {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn }) id!: bigint;
}

describe('a manifest stops the start with one line that says what to do, for', () => {
  it.each<[kind: string, extensions: readonly unknown[], line: string]>([
    [
      'a function that is not called',
      [() => toys],
      'extension number 1 of the list is not a manifest; if it is a function of options, call it',
    ],
    [
      'no module',
      [{ name: 'toys' }],
      'extension toys: module must be a class or a dynamic module of Nest, not undefined',
    ],
    [
      'an unknown member',
      [{ ...toys, migration: [] }],
      'extension toys: migration is not a known member; known are name, compatibility, module, ' +
        'migrations, scopes, defaultScopes, tags, errors, settings, requestHeaders, verifier, ' +
        'seed, commands, from',
    ],
    [
      'a name in upper case',
      [{ ...toys, name: 'Toys' }],
      'extension Toys: name must be lower case, such as store-orders, not "Toys"',
    ],
    [
      'a name that two have',
      [toys, toys],
      'extension toys is declared twice: by number 1 and by number 2',
    ],
    [
      'a version that is no range',
      [{ ...toys, compatibility: 'latest' }],
      'extension toys: compatibility must be a range of semver, such as ^1.0.0, not "latest"',
    ],
    [
      'another version',
      [{ ...toys, compatibility: '^99.0.0' }],
      'extension toys requires pet-store-service ^99.0.0, but this is 1.0.0; ' +
        '--ignore-compatibility toys starts anyway',
    ],
    [
      'a migration without a timestamp',
      [{ ...toys, migrations: [CreateToys] }],
      'extension toys: migrations must have classes with a name such as ' +
        'CreateOrders1764720000000 and up(), not CreateToys',
    ],
    [
      'a path of migrations',
      [{ ...toys, migrations: ['dist/migrations/*.js'] }],
      'extension toys: migrations must have classes with a name such as ' +
        'CreateOrders1764720000000 and up(), not "dist/migrations/*.js"',
    ],
    [
      'a verifier that is null',
      [{ ...toys, verifier: null }],
      'extension toys: verifier must be an object or a class with verify(), not null',
    ],
    [
      'default scopes that are no list',
      [{ ...toys, defaultScopes: 'toys:read' }],
      'extension toys: defaultScopes must be an array',
    ],
    [
      'a scope of another form',
      [{ ...toys, scopes: { 'toys.read': 'Read toys.' } }],
      'extension toys: scopes must have scopes such as orders:read, each with a sentence, not toys.read',
    ],
    [
      'a scope that two have',
      [{ ...toys, scopes: { 'pets:read': 'Read toys.' } }],
      'scope pets:read is declared twice: by extension pets and by extension toys',
    ],
    [
      'a default scope that is not declared',
      [{ ...toys, scopes, defaultScopes: ['toys:write'] }],
      'extension toys: defaultScopes has toys:write, not in scopes',
    ],
    [
      'errors without defineErrors()',
      [{ ...toys, errors: { toy_broken: { status: 409, meaning: 'Broken.' } } }],
      'extension toys: errors must have errors of defineErrors() with a lower-case code and a ' +
        'status from 400 to 599, not toy_broken',
    ],
    [
      'an error with the status of a success',
      [{ ...toys, errors: defineErrors({ toy_found: { status: 200, meaning: 'Found.' } }) }],
      'extension toys: errors must have errors of defineErrors() with a lower-case code and a ' +
        'status from 400 to 599, not toy_found',
    ],
    [
      'an error code that two have',
      [
        { ...toys, errors },
        { ...toys, name: 'more', errors },
      ],
      'error code toy_broken is declared twice: by extension toys and by extension more',
    ],
    [
      'settings without rules',
      [{ ...toys, settings: Settings }],
      'extension toys: settings must be a class with rules of class-validator, not Settings',
    ],
    [
      'a header that is none',
      [{ ...toys, requestHeaders: ['X Zoo'] }],
      'extension toys: requestHeaders must have names of headers, not "X Zoo"',
    ],
    [
      'a verifier without verify()',
      [{ ...toys, verifier: CreateToys }],
      'extension toys: verifier must be an object or a class with verify(), not CreateToys',
    ],
    [
      'a verifier that Nest does not know',
      [{ ...toys, verifier: Verifier }],
      'extension toys: add Verifier to the providers of its module',
    ],
    [
      'a seed that is no function',
      [{ ...toys, seed: [{ name: 'Rex' }] }],
      'extension toys: seed must be a function, not [{"name":"Rex"}]',
    ],
    [
      'a command of the service',
      [{ ...toys, commands: [{ name: 'keys', description: 'Wind up.', run: () => undefined }] }],
      'command keys is declared twice: by the service and by extension toys',
    ],
    [
      'a folder instead of import.meta.url',
      [{ ...toys, from: __dirname }],
      `extension toys: from must be import.meta.url, not "${__dirname}"`,
    ],
    [
      'an operation without scopes',
      [serving([])],
      'Toys.list has neither @RequireScope(...) nor @AnyScope()',
    ],
    [
      'a scope that nobody declares',
      [serving([RequireScope('toys:read')])],
      'Toys.list requires the scope toys:read, which no extension declares',
    ],
    [
      'an error code that nobody declares',
      [serving([ANY, method(ApiErrors('toy_lost'))])],
      'Toys.list documents the error toy_lost, which no extension declares',
    ],
    [
      'a path with the prefix',
      [serving([ANY], 'v1/toys')],
      'Toys.list: its path begins with v1, which every path gets unless its controller is ' +
        '@Public(); remove it',
    ],
    [
      'a public operation with scopes',
      [serving([PUBLIC, ANY])],
      'Toys.list: a @Public() operation has no caller, so remove @RequireScope(), @AnyScope() ' +
        'and @Idempotent()',
    ],
    [
      'a public operation with @Idempotent()',
      [serving([PUBLIC, method(Idempotent())])],
      'Toys.list: a @Public() operation has no caller, so remove @RequireScope(), @AnyScope() ' +
        'and @Idempotent()',
    ],
    [
      '@Idempotent() with @Res()',
      [serving([ANY, method(Idempotent()), method((...target) => Res()(target[0], target[1], 0))])],
      'Toys.list: @Idempotent() cannot store what @Res() sends; return it, or use ' +
        '@Res({ passthrough: true })',
    ],
    [
      '@Idempotent() with a serializer that excludes everything',
      [serving([ANY, method(Idempotent()), method(SerializeOptions({ strategy: 'excludeAll' }))])],
      'Toys.list: @Idempotent() cannot serialize with strategy or type; return an object with ' +
        '@Exclude() members',
    ],
    [
      '@Idempotent() with a serializer that creates objects',
      [serving([ANY, method(Idempotent()), method(SerializeOptions({ type: Doll }))])],
      'Toys.list: @Idempotent() cannot serialize with strategy or type; return an object with ' +
        '@Exclude() members',
    ],
    [
      'a body limit of text',
      [serving([ANY, method(BodyLimit({ bytes: '1 MB' as never }))])],
      'Toys.list: bytes of @BodyLimit() must be an integer between 1 and 16777216, not 1 MB',
    ],
    [
      'two operations with one id',
      [serving([ANY]), { ...serving([ANY], 'games'), name: 'games' }],
      'operationId list is declared twice: by Toys.list and by Toys.list',
    ],
    [
      'a column that a table gateway does not honour',
      [storing(Doll)],
      'A TableGateway cannot be used for the entity Doll: the column deletedAt ("deleted_at") ' +
        'hides rows in a Repository only. Use a Repository of Doll',
    ],
    [
      'a table gateway of an entity that is not registered',
      [storing(Ball, [])],
      'A TableGateway cannot be used for Ball: import TypeOrmModule.forFeature([Ball]) in its module',
    ],
  ])('%s', async (_kind, extensions, line) => {
    const error = await startAndClose({ extensions: extensions as never }).catch(
      (caught: unknown) => caught,
    );
    expect((error as Error | undefined)?.message).toBe(line);
  });

  it('an entity without a primary column', async () => {
    @Entity('kites')
    class Kite {
      @Column({ type: 'integer' }) length!: number;
    }
    await expect(startAndClose({ extensions: [storing(Kite)] as never })).rejects.toThrow(
      /^Entity "Kite" does not have a primary column\..* Use @PrimaryColumn decorator .*$/,
    );
  });

  it('an invalid setting, in the variable that has it', async () => {
    class Numbered {
      @IsInt() toysPerPet!: number;
    }
    const extensions = [{ ...toys, settings: Numbered }];
    await expect(startAndClose({ extensions, env: { TOYS_PER_PET: 'x' } })).rejects.toThrow(
      /^TOYS_PER_PET must be an integer number$/,
    );
  });
});
