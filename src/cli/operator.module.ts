import { type DynamicModule, Module } from '@nestjs/common';
import { foundation, type FoundationOptions } from '../foundation.js';
import { KeysModule } from '../keys/keys.module.js';
import { PetSeeder } from '../pets/pet-seeder.js';
import { UsageReportModule } from '../usage/usage-report.module.js';

/** The modules that commands need. HTTP and OpenAPI, which take longest to load, are left out. */
@Module({})
export class OperatorModule {
  static forRoot(options: FoundationOptions): DynamicModule {
    const scopes = (options.extensions ?? []).map((extension) => extension.scopes ?? {});
    return {
      module: OperatorModule,
      imports: [...foundation(options), KeysModule.forRoot(scopes), UsageReportModule],
      providers: [PetSeeder],
    };
  }
}
