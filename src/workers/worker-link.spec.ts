import { Logger } from '@nestjs/common';
import type { Metrics } from '../telemetry/metrics.js';
import type { FromWorker, ToWorker } from './messages.js';
import { WorkerLink } from './worker-link.js';

const where = { origin: 'http://a', baseUrl: 'http://a/v1', docsUrl: 'http://a/docs' };

describe(WorkerLink.name, () => {
  const said: FromWorker[] = [];
  const snapshot = jest.fn<Promise<object[]>, []>();
  let hear: (message: ToWorker) => void;
  const { send, connected } = process;
  beforeEach(() => {
    said.length = 0;
    const on = jest.spyOn(process, 'on').mockImplementation((event, listener) => {
      if (event === 'message') hear = listener as typeof hear;
      return process;
    });
    Object.assign(process, {
      connected: true,
      send: (message: FromWorker) => said.push(message) > 0,
    });
    new WorkerLink().listening(where, { snapshot } as unknown as Metrics);
    on.mockRestore();
  });
  afterEach(() => Object.assign(process, { send, connected }));

  it('tells the metrics when asked', async () => {
    snapshot.mockResolvedValue([{ name: 'a' }]);
    hear({ kind: 'tell metrics', id: 7 });
    await new Promise(setImmediate);
    expect(said.at(-1)).toEqual({ kind: 'metrics', id: 7, metrics: [{ name: 'a' }] });
  });

  it('serves on where they cannot be told, and says so at once', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    snapshot.mockRejectedValue(new Error('faulty'));
    hear({ kind: 'tell metrics', id: 8 });
    await new Promise(setImmediate);
    expect(said.at(-1)).toEqual({ kind: 'metrics', id: 8, metrics: [] });
    expect(logged.mock.calls).toEqual([[new Error('faulty')]]);
    logged.mockRestore();
  });
});
