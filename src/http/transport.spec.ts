import { AsyncLocalStorage } from 'node:async_hooks';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { eventually } from '../../test/support/eventually.js';
import type { Config } from '../config/config.js';
import type { Traces } from '../telemetry/traces.js';
import { RouteTable } from './route-table.js';
import { createTransport } from './transport.js';
import type { WaitingLine } from './waiting-line.js';

describe(createTransport.name, () => {
  const here = new AsyncLocalStorage<string>();
  /** Each request in a context of its own, as tracing has it. */
  const traces = {
    follow: (server: FastifyInstance) =>
      server.addHook('onRequest', (request, _reply, done) => here.run(request.url, done)),
  } as Partial<Traces> as Traces;
  const config = {
    corsOrigins: [] as string[],
    requestTimeoutSeconds: 30,
    headersTimeoutSeconds: 10,
    sendTimeoutSeconds: 30,
  } as Partial<Config> as Config;

  let inLine: ((waitedMs: number) => void)[];
  let answered: number[];
  let begun: (string | undefined)[];
  let isDraining: boolean;
  let server: FastifyInstance;
  beforeEach(async () => {
    [inLine, answered, begun, isDraining] = [[], [], [], false];
    const line = {
      join: (begin) => void inLine.push(begin),
    } as Partial<WaitingLine> as WaitingLine;
    const application = {
      judge: () => Promise.resolve(),
      sendError: () => undefined,
      answered: (_request: unknown, status: number) => void answered.push(status),
      answeredUnread: () => undefined,
      isDraining: () => isDraining,
    };
    server = createTransport(config, new RouteTable(), application, line, [], traces);
    server.get('/*', (_request, reply) => {
      begun.push(here.getStore());
      return reply.send('here');
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => server.close());

  const ask = (path: string) => {
    const client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    let text = '';
    client.on('data', (chunk) => (text += chunk.toString()));
    return { client, text: () => text };
  };
  const until = (condition: () => boolean) => eventually(() => Promise.resolve(condition()));

  it('does not begin for whoever has hung up in line, and tells of it as that', async () => {
    const { client } = ask('/a');
    await until(() => inLine.length === 1);
    client.resetAndDestroy();
    await until(() => answered.length === 1);
    inLine[0]!(5);
    expect(answered).toEqual([499]);
    expect(begun).toEqual([]);
  });

  it('begins each in the context of its own, whoever has it begin', async () => {
    const asked = ['/a', '/b'].map((path) => ask(path));
    await until(() => inLine.length === 2);
    here.run('somebody else', () => inLine.forEach((begin) => begin(5)));
    await until(() => asked.every(({ text }) => text().endsWith('here')));
    expect(begun.toSorted()).toEqual(['/a', '/b']);
    for (const { client } of asked) client.destroy();
  });

  it('closes the connection of whoever was in line when the service began to stop', async () => {
    const { client, text } = ask('/a');
    await until(() => inLine.length === 1);
    isDraining = true;
    inLine[0]!(5);
    await until(() => text().endsWith('here'));
    expect(text().toLowerCase()).toContain('connection: close');
    client.destroy();
  });

  it('has nobody wait who looks after the process', async () => {
    const { client, text } = ask('/health/live');
    await until(() => text().endsWith('here'));
    expect(inLine).toEqual([]);
    client.destroy();
  });
});
