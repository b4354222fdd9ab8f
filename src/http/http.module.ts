import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AdmissionQueue } from './admission-queue.js';
import { ClientAddress } from './client-address.js';
import { ErrorFilter } from './error.filter.js';
import { OutageDetector } from './outage-detector.js';
import { PublicAddress } from './public-address.js';
import { OperationIds } from './request-context.js';
import { RouteTable } from './route-table.js';

@Module({})
export class HttpModule {
  /** The route table and the line are filled by the transport, which exists before the application. */
  static forRoot(
    routes: RouteTable,
    line: AdmissionQueue,
    outages: Type<OutageDetector>,
  ): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        { provide: RouteTable, useValue: routes },
        { provide: AdmissionQueue, useValue: line },
        { provide: OutageDetector, useExisting: outages },
        PublicAddress,
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
