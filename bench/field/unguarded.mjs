// The service without key, quota, access log, metrics and usage statistics, to measure what they cost. One guard gives
// every request the same caller. Everything else is the service as it is. Arguments: those of `petstore`.
import 'reflect-metadata';
import { APP_GUARD } from '@nestjs/core';
import { AppModule } from '../../dist/src/app.module.js';
import { ApiKeyGuard } from '../../dist/src/keys/api-key.guard.js';
import { ScopeGuard } from '../../dist/src/keys/scope.guard.js';
import { OverloadGuard } from '../../dist/src/rate-limits/overload.guard.js';
import { PlanThrottlerGuard } from '../../dist/src/rate-limits/plan-throttler.guard.js';
import { AccessLog } from '../../dist/src/telemetry/access-log.js';
import { Metrics } from '../../dist/src/telemetry/metrics.js';
import { UsageRecorder } from '../../dist/src/usage/usage-recorder.js';

const REMOVED = new Set([ApiKeyGuard, OverloadGuard, PlanThrottlerGuard, ScopeGuard, AccessLog]);
const CALLER = { clientId: 'client', keyId: 'key' };

class SameCaller {
  canActivate(context) {
    context.switchToHttp().getRequest().caller = CALLER;
    return true;
  }
}

const forRoot = AppModule.forRoot.bind(AppModule);
AppModule.forRoot = (options) => {
  const { providers, ...module } = forRoot(options);
  const kept = providers.filter((provider) => !REMOVED.has(provider.useClass ?? provider));
  return { ...module, providers: [{ provide: APP_GUARD, useClass: SameCaller }, ...kept] };
};
UsageRecorder.prototype.onModuleInit = () => undefined;
const nothing = { observe() {}, inc() {}, set() {} };
for (const kind of ['counter', 'histogram', 'gauge']) Metrics.prototype[kind] = () => nothing;

await import('../../dist/src/main.js');
