import type { TestService } from './start-service.js';
import { Metrics } from '../../src/core/telemetry/metrics.js';

/** The lines of the text exposition. */
export async function metricLines({ store }: TestService): Promise<string[]> {
  return (await store.app.get(Metrics).registry.metrics()).split('\n');
}

/** The sum of the samples of a metric with these labels. */
export async function metricValue(
  service: TestService,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = (await metricLines(service)).filter(
    (line) => /^\w+/.exec(line)?.[0] === name && wanted.every((each) => line.includes(each)),
  );
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
