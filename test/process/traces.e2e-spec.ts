import { text } from 'node:stream/consumers';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type Served, Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';
import { serveHttp } from '../support/serve-http.js';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const SERVER = 2;

interface Attribute {
  key: string;
  value: { stringValue?: string };
}
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
}
interface ResourceSpans {
  resource: { attributes: Attribute[] };
  scopeSpans: { spans: Span[] }[];
}

const valueOf = (attributes: Attribute[], name: string) =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

/** Receives spans by OTLP over HTTP, as JSON. */
async function startCollector() {
  const received: ResourceSpans[] = [];
  const server = await serveHttp((request, response) => {
    void text(request).then((body) => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: ResourceSpans[] };
      received.push(...resourceSpans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  return {
    ...server,
    spans: () => received.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    services: () =>
      new Set(received.map(({ resource }) => valueOf(resource.attributes, 'service.name'))),
  };
}

/** Starts a server that sends its spans to `endpoint` while the work is done. */
async function withTraces(
  endpoint: string,
  env: Record<string, string>,
  work: (client: Client, server: Served) => Promise<void>,
): Promise<void> {
  using place = new Workplace({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    LOG_FORMAT: 'json',
    ...env,
  });
  await place.run('migrate');
  const { key } = await place.json('keys', 'issue', '--plan', 'pro', '--name', 'Zoo');
  const server = await place.serve();
  const client = new Client(server.origin, key);
  await work(client, server);
  client.close();
  expect(await server.stop()).toBe(0);
}

/** The first line about lost spans. */
async function warning(server: Served): Promise<Record<string, unknown>> {
  const line = () => /^.*"Spans may be lost".*$/m.exec(server.output())?.[0];
  await eventually(() => Promise.resolve(line() !== undefined));
  return JSON.parse(line()!) as Record<string, unknown>;
}

describe('traces', () => {
  it("traces a request in one span of the caller's trace, without SQLite statements", async () => {
    await using collector = await startCollector();
    await withTraces(collector.origin, {}, async (client, server) => {
      const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
      const pet = { name: 'Rex', categoryId: 1 };
      expect((await client.post('/v1/pets', pet, { traceparent })).status).toBe(201);
      expect((await client.get(`/v1/${client.key}/x?key=${client.key}`)).status).toBe(404);
      await client.get('/health/ready');
      const line = () => /^.*"createPet".*$/m.exec(server.output())?.[0];
      await eventually(() => Promise.resolve(line() !== undefined));
      expect(JSON.parse(line()!)).toMatchObject({ traceId: TRACE_ID, status: 201 });
    });
    const spans = collector.spans();
    expect(spans.filter(({ traceId }) => traceId === TRACE_ID)).toMatchObject([
      { kind: SERVER, name: 'POST /v1/pets', parentSpanId: PARENT_ID },
    ]);
    const paths = spans
      .filter(({ kind }) => kind === SERVER)
      .map(({ attributes }) => valueOf(attributes, 'url.path'));
    expect(paths).toEqual(['/v1/pets', '/v1/*']);
    expect(collector.services()).toEqual(new Set(['pet-store-service']));
    expect(JSON.stringify(spans)).not.toMatch(/psk_\w/);
  });

  it('replaces a path that may hold a part of a key or token by the pattern of its route', async () => {
    await using collector = await startCollector();
    const port = await freePort();
    const secret = 'f4Kp0Q2sX9vB7nM3wL8zR1tY6uJ5hG0dC2eA4iO9kN7bV3xZ1';
    const [token, key] = [`psa_${secret}`, `ps%6B_${secret}`];
    const env = { ADMIN_PORT: String(port) };
    await withTraces(collector.origin, env, async (client) => {
      const paths = [
        `pets/${token}`,
        `pets/${key}`,
        `pets/${secret.slice(0, 30)}`,
        token,
        'pets/1',
      ];
      for (const path of paths) await client.get(`/v1/${path}`);
      const admin = new Client(`http://127.0.0.1:${port}`);
      await admin.get(`/admin/v1/keys/${token}?search=${token}`);
      await admin.get(`/${token}`);
      admin.close();
    });
    const spans = collector.spans().filter(({ kind }) => kind === SERVER);
    expect(spans.map(({ attributes }) => valueOf(attributes, 'url.path'))).toEqual([
      ...Array.from({ length: 3 }, () => '/v1/pets/:petId'),
      '/v1/*',
      '/v1/pets/1',
      '/admin/v1/keys/:id',
      '',
    ]);
    expect(JSON.stringify(collector.spans())).not.toMatch(/ps(k|a|%6B)_|f4Kp0Q2s/);
  });

  it('an unreachable collector causes a warning, and delays neither requests nor the shutdown', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    await withTraces(nowhere, {}, async (client, server) => {
      expect((await client.get('/v1/pets')).status).toBe(200);
      expect((await warning(server)).reason).toMatch(/^connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
    });
  });

  it.each([
    [401, 'text/plain', 'HTTP 401'],
    [503, 'text/plain', 'HTTP 429, 502, 503 or 504'],
    [200, 'application/json', 'Received Partial Success response'],
    [200, 'text/plain', 'Failed to parse trace export response'],
  ])(
    'logs a response %s (%s) without its text, and as of no request',
    async (status, type, reason) => {
      await using collector = await serveHttp(({ headers }, response) => {
        const secret = headers.authorization;
        const body = JSON.stringify({ partialSuccess: { rejectedSpans: 1, errorMessage: secret } });
        response.writeHead(status, secret, { 'content-type': type });
        response.end(type === 'text/plain' ? `${secret}` : body);
      });
      const env = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer SECRET' };
      await withTraces(collector.origin, env, async (client, server) => {
        await client.get('/v1/pets');
        expect(await warning(server)).toEqual({
          level: 'warn',
          time: expect.any(Number) as number,
          service: 'pet-store-service',
          version: expect.any(String) as string,
          context: 'OpenTelemetry',
          reason,
          msg: 'Spans may be lost',
        });
        expect(server.output()).not.toContain('Bearer');
      });
    },
  );

  /** The names of the spans below those of requests. */
  async function spansOf(env: Record<string, string>): Promise<string[]> {
    await using collector = await startCollector();
    const found = () => {
      const requests = collector.spans().filter(({ kind }) => kind === SERVER);
      const ids = new Set<string | undefined>(requests.map(({ spanId }) => spanId));
      return collector.spans().filter(({ parentSpanId }) => ids.has(parentSpanId));
    };
    await withTraces(collector.origin, env, async (client) => {
      // A server on a busy machine may count without Redis for a while.
      await eventually(async () => {
        await client.get('/v1/pets');
        return found().length > 0;
      });
    });
    expect(JSON.stringify(collector.spans())).not.toMatch(/psk_\w/);
    return found().map(({ name }) => name);
  }

  describeWith('redis', 'with Redis', (program) => {
    it('traces the command of each request in its own trace', async () => {
      await using redis = await RedisServer.start(program);
      await using collector = await startCollector();
      const ids = Array.from({ length: 100 }, (_, index) =>
        (index + 1).toString(16).padStart(32, '0'),
      );
      await withTraces(collector.origin, { REDIS_URL: redis.url }, async (client) => {
        await client.get('/v1/pets');
        const list = (id: string) =>
          client.get('/v1/pets', { traceparent: `00-${id}-${PARENT_ID}-01` });
        const answers = await Promise.all(ids.map(list));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      });
      const commands = collector.spans().filter(({ name }) => name === 'evalsha');
      const traces = commands.map(({ traceId }) => traceId).filter((id) => ids.includes(id));
      expect(traces.sort()).toEqual(ids);
    });

    it('traces each Redis command in a span', async () => {
      await using redis = await RedisServer.start(program);
      expect(new Set(await spansOf({ REDIS_URL: redis.url }))).toEqual(new Set(['evalsha']));
    });
  });

  describeWith('postgres', 'with PostgreSQL', (program) => {
    it('traces each PostgreSQL statement in a span', async () => {
      await using postgres = await PostgresServer.start(program);
      const names = await spansOf({ DATABASE_URL: postgres.url });
      // The key, its first use, and the page.
      for (const statement of ['keys.find', 'keys.save-first-use', 'pets.']) {
        expect(names).toContainEqual(expect.stringMatching(`^pg\\.query:${statement}`));
      }
    });
  });
});
