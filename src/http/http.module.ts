import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { CORE_MODULES, Operations } from './operations.js';
import { PublicAddress } from '../config/public-address.js';
import { Transport } from './transport.js';

@Module({})
export class HttpModule {
  /** @param core the modules of the service itself */
  static forRoot(transport: Transport, core: readonly Type[]): DynamicModule {
    const providers = [
      { provide: Transport, useValue: transport },
      { provide: PublicAddress, useValue: transport.address },
      { provide: CORE_MODULES, useValue: core },
      Operations,
    ];
    return { module: HttpModule, global: true, providers, exports: providers };
  }
}
