// The latency histogram, with the labels and buckets of the service.
import { Histogram } from 'prom-client';

export const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the request line to the last byte of the response.',
  labelNames: ['operation', 'method', 'status'],
  buckets: [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
});
