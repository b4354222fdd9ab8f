import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startService } from '../support/start-service.js';
import { Client } from '../support/client.js';
import { freePort } from '../support/free-port.js';

describe('metrics', () => {
  it('are served on a port of their own, with the prefix petstore_', async () => {
    const port = String(await freePort());
    await using service = await startService({ env: { METRICS_PORT: port } });
    const client = await service.client();
    await client.get('/v1/pets');
    await client.get('/v1/pets/1');
    const metrics = new Client(`http://127.0.0.1:${port}`);
    const { status, text, headers } = await metrics.get('/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=/);
    expect(text).toMatch(/^petstore_http_requests_total{operation="listPets",status="200"} 1$/m);
    expect(text).toMatch(/^petstore_http_requests_total{operation="getPet",status="404"} 1$/m);
    expect(text).toMatch(/^petstore_http_request_duration_seconds_count{operation="listPets"} 1$/m);
    expect(text).toMatch(/^petstore_counter_store{mode="memory"} 1$/m);
    expect(text).toMatch(/^petstore_counter_store{mode="redis"} 0$/m);
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names.filter((name) => !name!.startsWith('petstore_'))).toEqual([]);
    expect((await metrics.get('/')).status).toBe(404);
    expect((await metrics.send('/metrics', { method: 'POST' })).status).toBe(404);
    expect((await client.get('/metrics')).status).toBe(404);
    metrics.close();
  });

  it('that cannot be served do not keep the service from serving', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resume) => other.once('listening', resume));
    const { port } = other.address() as AddressInfo;
    await using service = await startService({ env: { METRICS_PORT: String(port) } });
    expect((await (await service.client()).get('/v1/pets')).status).toBe(200);
    other.close();
  });
});
