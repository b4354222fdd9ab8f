import { installService, writeModule } from './extension-package.js';
import { Workplace } from './petstore-process.js';

/** A minimal extension with an operation, a table, a scope and an error. */
const TOYS = `
import { Controller, Get, Injectable, Module, Param, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { OnEvent } from '@nestjs/event-emitter';
import { defineErrors, defineExtension, Logger, RequireScope } from 'pet-store-service';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';

@Entity('toys')
export class Toy {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id;

  @Column({ type: 'integer' })
  squeaks;
}

export const toyErrors = defineErrors({ toy_broken: { status: 409, meaning: 'It is broken.' } });

@Controller('toys')
export class ToysController {
  constructor(@InjectRepository(Toy) toys: Repository<Toy>, logger: Logger) {
    this.toys = toys;
    this.logger = logger;
  }

  @Get()
  @RequireScope('toys:read')
  listToys() {
    return this.toys.find();
  }

  @Post(':id')
  @RequireScope('toys:write')
  async breakToy(@Param('id') id: string) {
    await this.toys.insert({ id, squeaks: 1 });
    this.logger.info({}, 'It breaks');
    throw toyErrors.toy_broken('The toy ' + id + ' is broken');
  }
}

@Injectable()
export class Thresholds {
  constructor(logger: Logger) {
    this.logger = logger;
  }

  @OnEvent('quota.threshold')
  reached(event) {
    this.logger.info(event, 'Threshold');
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Toy])],
  controllers: [ToysController],
  providers: [Thresholds],
})
export class ToysModule {}

export class CreateToys1700000000000 {
  name = 'CreateToys1700000000000';
  async up(runner) {
    // Fails unless the tables of the service exist.
    await runner.query('SELECT id FROM pets');
    await runner.query('CREATE TABLE toys (id varchar(36) PRIMARY KEY, squeaks integer NOT NULL)');
  }
  async down(runner) {
    await runner.query('DROP TABLE toys');
  }
}

export const toys = defineExtension({
  name: 'toys',
  compatibility: '>=1.0.0-0',
  module: ToysModule,
  migrations: [CreateToys1700000000000],
  scopes: { 'toys:read': 'See toys.', 'toys:write': 'Break toys.' },
  errors: toyErrors,
  from: import.meta.url,
});
`;

const TOYS_CONFIG = `
import { defineConfig } from 'pet-store-service';
import { toys } from './toys.js';
export default defineConfig({ extensions: [toys] });
`;

/** A directory with an extension and a configuration file that uses it. */
export function workplaceWithToys(
  env: Record<string, string> = {},
  configFile = 'petstore.config.js',
): Workplace {
  const workplace = new Workplace(env);
  installService(workplace.directory);
  writeModule(workplace.directory, 'toys.js', TOYS);
  writeModule(workplace.directory, configFile, TOYS_CONFIG);
  return workplace;
}
