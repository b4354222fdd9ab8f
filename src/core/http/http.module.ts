import { type DynamicModule, Module } from '@nestjs/common';
import { Operations } from './operations.js';
import { PublicAddress } from '../config/public-address.js';
import { Transport } from './transport.js';

@Module({})
export class HttpModule {
  static forRoot(transport: Transport): DynamicModule {
    const providers = [
      { provide: Transport, useValue: transport },
      { provide: PublicAddress, useValue: transport.address },
      Operations,
    ];
    return { module: HttpModule, global: true, providers, exports: providers };
  }
}
