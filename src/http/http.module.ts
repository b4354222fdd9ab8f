import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AdmissionQueue } from './admission-queue.js';
import { ClientAddress } from './client-address.js';
import { ClientConnections } from './client-connections.js';
import { ErrorFilter } from './error.filter.js';
import { OperationIds } from './operation-ids.js';
import { OutageDetector } from './outage-detector.js';
import { PublicAddress } from './public-address.js';
import { RouteTable } from './route-table.js';
import type { Transport } from './transport.js';

@Module({})
export class HttpModule {
  /** @param transport and address exist before the application, which is built on them */
  static forRoot(
    transport: Transport,
    address: PublicAddress,
    outages: Type<OutageDetector>,
  ): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        { provide: RouteTable, useValue: transport.routes },
        { provide: AdmissionQueue, useValue: transport.queue },
        { provide: ClientConnections, useValue: transport.connections },
        { provide: PublicAddress, useValue: address },
        { provide: OutageDetector, useExisting: outages },
        ClientAddress,
        ErrorFilter,
        OperationIds,
      ],
      exports: [
        RouteTable,
        AdmissionQueue,
        PublicAddress,
        ClientAddress,
        ErrorFilter,
        OperationIds,
      ],
    };
  }
}
