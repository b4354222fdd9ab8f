import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AdmissionQueue } from './admission-queue.js';
import { ClientConnections } from './client-connections.js';
import { ErrorFilter, OutageDetector } from './error.filter.js';
import { CORE_CONTROLLERS, Operations } from './operations.js';
import { PublicAddress } from '../config/public-address.js';
import { RouteTable } from './route-table.js';
import type { Transport } from './transport.js';

interface HttpOptions {
  /** Created before the application, because the `FastifyAdapter` needs both. */
  transport: Transport;
  address: PublicAddress;
  outages: Type<OutageDetector>;
  /** The controllers of the service itself. */
  core: ReadonlySet<Type>;
}

@Module({})
export class HttpModule {
  static forRoot({ transport, address, outages, core }: HttpOptions): DynamicModule {
    const providers = [
      { provide: RouteTable, useValue: transport.routes },
      { provide: AdmissionQueue, useValue: transport.queue },
      { provide: ClientConnections, useValue: transport.connections },
      { provide: PublicAddress, useValue: address },
      { provide: OutageDetector, useExisting: outages },
      { provide: CORE_CONTROLLERS, useValue: core },
      ErrorFilter,
      Operations,
    ];
    return { module: HttpModule, global: true, providers, exports: providers };
  }
}
