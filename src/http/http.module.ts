import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AdmissionQueue } from './admission-queue.js';
import { CORE_MODULES, Operations } from './operations.js';
import { PublicAddress } from '../config/public-address.js';
import { RouteTable } from './route-table.js';
import { Transport } from './transport.js';

@Module({})
export class HttpModule {
  /** @param core the modules of the service itself */
  static forRoot(transport: Transport, core: readonly Type[]): DynamicModule {
    const providers = [
      { provide: Transport, useValue: transport },
      { provide: RouteTable, useValue: transport.routes },
      { provide: AdmissionQueue, useValue: transport.queue },
      PublicAddress,
      { provide: CORE_MODULES, useValue: core },
      Operations,
    ];
    return { module: HttpModule, global: true, providers, exports: providers };
  }
}
