// The service without key, quota, access line and metrics: the difference is what they cost.
import { AccessLog } from '../../dist/src/core/http/access-log.js';
import { Authenticator } from '../../dist/src/core/keys/authenticator.js';
import { Metrics } from '../../dist/src/core/telemetry/metrics.js';
import { Clock } from '../../dist/src/core/time/clock.js';
import { UsageRecorder } from '../../dist/src/core/usage/usage-recorder.js';
import { startTestStore } from '../../dist/src/testing.js';

const nothing = () => undefined;
const metric = { inc: nothing, observe: nothing, set: nothing, labels: () => metric };
const create = () => metric;
const replacements = new Map([
  // Without a quota, the later guards count nothing.
  [
    Authenticator,
    { authenticate: (request) => (request.caller = { scopes: { has: () => true } }) },
  ],
  [AccessLog, {}],
  [UsageRecorder, {}],
  [Metrics, { counter: create, histogram: create, gauge: create }],
  [Clock, new Clock()],
]);

await startTestStore({
  databaseUrl: process.env.DATABASE_URL,
  env: { ...process.env, METRICS_PORT: '0' },
  override(builder) {
    for (const [provider, value] of replacements)
      builder.overrideProvider(provider).useValue(value);
    return builder;
  },
});
