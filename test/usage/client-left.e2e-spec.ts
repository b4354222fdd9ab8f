import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import { Controller, Get, Module } from '@nestjs/common';
import { AnyScope } from '../../src/index.js';
import { Transport } from '../../src/core/http/transport.js';
import { saveUsage } from '../support/background.js';
import { eventually } from '../support/eventually.js';
import { metricValue } from '../support/metrics.js';
import { recordedLog } from '../support/recorded-log.js';
import { startService } from '../support/start-service.js';

const slow = new EventEmitter();

@Controller('slow')
class SlowController {
  @Get()
  @AnyScope()
  async getSlow(): Promise<object> {
    slow.emit('begun');
    await once(slow, 'end');
    return {};
  }
}

@Module({ controllers: [SlowController] })
class SlowModule {}

describe('a request whose client leaves before its response', () => {
  it('is counted once in the usage, as it is in the quota, and has a line in the log', async () => {
    const { logger, lines } = recordedLog();
    const extensions = [{ name: 'slow', module: SlowModule }];
    await using service = await startService({ logger, extensions });
    const client = await service.client();
    const headers = { authorization: `Bearer ${client.key}` };
    const begun = once(slow, 'begun');
    const leaving = request(`${service.origin}/v1/slow`, { headers }).end();
    const hungUp = once(leaving, 'error');
    await begun;
    leaving.destroy();
    await hungUp;
    await eventually(() => Promise.resolve(lines.some(({ message }) => message === 'client left')));
    slow.emit('end');
    expect((await client.get('/v1/pets')).status).toBe(200);
    await saveUsage(service);
    const { hours } = (await client.get('/v1/usage/history?hours=1')).json();
    const { limits } = (await client.get('/v1/usage')).json();
    const { limit, remaining } = limits.minute;
    expect([hours.at(-1).codes.ok, limit - remaining]).toEqual([2, 2]);
    client.close();
  });

  it('neither runs nor counts if it waits in the queue', async () => {
    const { logger, lines } = recordedLog();
    await using service = await startService({ logger });
    const client = await service.client();
    const { queue } = service.store.app.get(Transport);
    const enqueue = jest.spyOn(queue, 'enqueue').mockImplementationOnce(() => undefined);
    const headers = { authorization: `Bearer ${client.key}` };
    const leaving = request(`${service.origin}/v1/pets`, { headers }).end();
    const hungUp = once(leaving, 'error');
    await eventually(() => Promise.resolve(enqueue.mock.calls.length > 0));
    leaving.destroy();
    await hungUp;
    await eventually(() => Promise.resolve(lines.some(({ message }) => message === 'client left')));
    const [start] = enqueue.mock.calls[0]!;
    start();
    // This request is not counted.
    const { limit, remaining } = (await client.get('/v1/usage')).json().limits.day;
    expect(remaining).toBe(limit);
    expect(lines.filter(({ details }) => details.status >= 500)).toEqual([]);
    const responses = 'petstore_http_request_duration_seconds_count';
    expect(await metricValue(service, responses, { operation: 'unknown' })).toBe(0);
    client.close();
  });
});
