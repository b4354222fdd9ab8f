import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type Served, Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';

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

/** A collector: receives spans by OTLP over HTTP. */
class Collector implements AsyncDisposable {
  readonly types = new Set<string>();
  readonly bodies: Buffer[] = [];

  private constructor(private readonly server: Server) {}

  static async start(port = 0): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/v1/traces') {
          collector.types.add(request.headers['content-type']!);
          collector.bodies.push(Buffer.concat(chunks));
        }
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resume) => server.listen(port, '127.0.0.1', resume));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private get resources() {
    const all = this.bodies.map((body) => JSON.parse(body.toString()));
    return all.flatMap(({ resourceSpans }) => resourceSpans);
  }

  get spans(): Span[] {
    return this.resources.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }: { spans: Span[] }) => spans),
    );
  }

  get service(): (string | undefined)[] {
    const attributes: Attribute[] = this.resources.flatMap(({ resource }) => resource.attributes);
    return attributes
      .filter(({ key }) => key === 'service.name')
      .map(({ value }) => value.stringValue);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resume) => this.server.close(resume));
  }
}

/** The first start, which issues a key. */
async function serve(
  place: Workplace,
  env: Record<string, string>,
): Promise<{ server: Served; client: Client }> {
  const server = await place.serve(env, '--no-demo');
  const key = () => /\bpsk_\w+/.exec(server.output())?.[0];
  await eventually(() => Promise.resolve(key() !== undefined));
  return { server, client: new Client(server.origin, key()) };
}

const variables = (collector: Collector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  LOG_FORMAT: 'json',
});

describe('traces', () => {
  it('have one span for a request, in the trace of the caller, and none for statements of SQLite', async () => {
    await using collector = await Collector.start();
    using place = new Workplace();
    const { server, client } = await serve(place, variables(collector));
    const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
    const pet = { name: 'Rex', categoryId: 1 };
    expect((await client.post('/v1/pets', pet, { traceparent })).status).toBe(201);
    expect((await client.get(`/v1/${client.key}/x?key=${client.key}`)).status).toBe(404);
    await client.get('/health/ready');
    client.close();
    expect(await server.stop()).toBe(0);

    const ours = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    const [request, ...others] = ours.filter(({ kind }) => kind === SERVER);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ name: 'POST /v1/pets', parentSpanId: PARENT_ID });
    expect(ours).toEqual([request]);
    const requests = collector.spans.filter(({ kind }) => kind === SERVER);
    expect(requests.map(({ name }) => name.split(' ')[0])).toEqual(['POST', 'GET']);
    expect(new Set(collector.service)).toEqual(new Set(['pet-store-service']));
    const paths = requests.map(
      ({ attributes }) => attributes.find(({ key }) => key === 'url.path')?.value.stringValue,
    );
    expect(paths).toEqual(['/v1/pets', '/v1/psk_.../x']);
    expect(JSON.stringify(collector.spans)).not.toMatch(/psk_\w/);
    const line = server
      .output()
      .split('\n')
      .find((each) => each.includes('"createPet"'));
    expect(JSON.parse(line!)).toMatchObject({ traceId: TRACE_ID, status: 201 });
  });

  it('delay neither a request nor the end without a collector, and are a warning', async () => {
    using place = new Workplace();
    const { server, client } = await serve(place, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      LOG_FORMAT: 'json',
    });
    expect((await client.get('/v1/pets')).status).toBe(200);
    await eventually(() => Promise.resolve(server.output().includes('Spans are lost')));
    client.close();
    expect(await server.stop()).toBe(0);
    const warnings = server
      .output()
      .split('\n')
      .filter((line) => line.includes('"context":"OpenTelemetry"'))
      .map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(warnings[0]).toMatchObject({
      level: 'warn',
      msg: expect.stringMatching(/^Spans are lost: connect ECONNREFUSED/),
    });
  });

  /** The names of the spans that a request has, besides its own. */
  async function spansOf(env: Record<string, string>): Promise<string[]> {
    await using collector = await Collector.start();
    using place = new Workplace(env);
    await place.run('migrate');
    const { key } = await place.json('keys', 'issue', '--plan', 'free', '--name', 'Zoo');
    const server = await place.serve(variables(collector));
    const client = new Client(server.origin, key);
    expect((await client.get('/v1/pets')).status).toBe(200);
    client.close();
    await server.stop();
    expect(JSON.stringify(collector.spans)).not.toMatch(/psk_\w/);
    const [request, ...others] = collector.spans.filter(({ kind }) => kind === SERVER);
    expect(others).toEqual([]);
    return collector.spans
      .filter(({ parentSpanId }) => parentSpanId === request!.spanId)
      .map(({ name }) => name);
  }

  describeWith('redis', 'with Redis', (program) => {
    it('have a span for its command', async () => {
      await using redis = await RedisServer.start(program);
      expect(await spansOf({ REDIS_URL: redis.url })).toEqual(['evalsha']);
    });
  });

  describeWith('postgres', 'with PostgreSQL', (program) => {
    it('have a span for each statement', async () => {
      await using postgres = await PostgresServer.start(program);
      expect(await spansOf({ DATABASE_URL: postgres.url })).toEqual([
        // The key, then the page.
        expect.stringMatching(/^pg\.query:/),
        expect.stringMatching(/^pg\.query:pets\./),
      ]);
    });
  });
});
