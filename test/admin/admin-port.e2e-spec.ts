import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  Controller,
  Get,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Public } from '../../src/index.js';
import { startAdminService, useAdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { recordedLog } from '../support/recorded-log.js';
import { parseAnswers, sendRaw } from '../support/raw-answers.js';
import { startAndClose, startService } from '../support/start-service.js';

@Public()
@Controller()
class OpenController {
  @Get('open')
  open(): object {
    return {};
  }
}

@Module({ controllers: [OpenController] })
class OpenModule {}

const KEYS = '/admin/v1/keys';
const HOOKS = [
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
];
/** What has seen a request. */
const watched: string[] = [];
const guard = { canActivate: () => watched.push('guard') > 0 };
const interceptor: NestInterceptor = {
  intercept: (_context, next) => {
    watched.push('interceptor');
    return next.handle();
  },
};

@Module({
  providers: [
    { provide: APP_GUARD, useValue: guard },
    { provide: APP_INTERCEPTOR, useValue: interceptor },
  ],
})
class WatchingModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    const watch = (_request: unknown, _response: unknown, next: () => void): void => {
      watched.push('middleware');
      next();
    };
    consumer.apply(watch).forRoutes('*path');
  }
}

describe('the two ports', () => {
  const { logger, lines } = recordedLog();
  const extension = { name: 'open', module: OpenModule };
  const started = useAdminService({
    logger,
    extensions: [extension],
    env: { CORS_ORIGINS: 'https://app.example.com' },
  });
  const statuses = async (origin: string, message: string, count = 1): Promise<number[]> =>
    parseAnswers(await sendRaw(origin, message, count)).map(({ status }) => status);

  /** The ways in which a request can pretend to have arrived on the other port. */
  const disguises = (path: string, wrong: string, token: string): [string, number][] => {
    const host = new URL(wrong).host;
    const authorization = `Authorization: Bearer ${token}`;
    const rest = `Host: ${host}\r\nX-Forwarded-Host: ${host}\r\n${authorization}\r\n`;
    return [
      [`GET ${path} HTTP/1.1\r\n${rest}\r\n`, 1],
      [`GET ${path} HTTP/1.0\r\n${rest}\r\n`, 1],
      [`GET ${wrong}${path} HTTP/1.1\r\n${rest}\r\n`, 1],
      [`GET ${path} HTTP/1.1\r\n${rest}\r\n`.repeat(3), 3],
      [`HEAD ${path} HTTP/1.0\r\n${rest}\r\n`, 1],
    ];
  };

  it.each(['/admin/v1/keys', '/admin/v1/audit', '/%61dmin/v1/keys', '/console/console.js'])(
    'never serve %s on the public port',
    async (path) => {
      const { service, origin, admin } = started;
      for (const [message, count] of disguises(path, origin, admin.key!)) {
        if (message.startsWith('HEAD')) continue;
        const found = await statuses(service.origin, message, count);
        expect(found).toEqual(Array(count).fill(404));
      }
    },
  );

  it.each([
    '/v1/pets',
    '/v1',
    '/%76%31/pets',
    '/health/ready',
    '/openapi.yaml',
    '/llms.txt',
    '/open',
  ])('never serve %s on the admin port', async (path) => {
    const { service, origin } = started;
    const client = await service.client();
    for (const [message, count] of disguises(path, service.origin, client.key!)) {
      if (message.startsWith('HEAD')) continue;
      expect(await statuses(origin, message, count)).toEqual(Array(count).fill(404));
    }
  });

  it('serve the console for a target without a path', async () => {
    const { origin } = started;
    const message = `GET ${origin} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`;
    const [answer] = parseAnswers(await sendRaw(origin, message));
    expect([answer!.status, answer!.text]).toEqual([200, await (await fetch(origin)).text()]);
  });

  it('serve their own document under the same path', async () => {
    const { service, admin } = started;
    const own = (await admin.get('/openapi.json')).json();
    const ofCallers = (await service.anonymous().get('/openapi.json')).json();
    const paths = Object.keys(own.paths);
    expect(paths.sort()).toEqual([
      '/admin/v1/audit',
      '/admin/v1/keys',
      '/admin/v1/keys/{id}',
      '/admin/v1/keys/{id}/revoke',
      '/admin/v1/keys/{id}/rotate',
      '/admin/v1/keys/{id}/unban',
      '/admin/v1/keys/{id}/usage',
      '/admin/v1/usage',
    ]);
    expect(JSON.stringify(ofCallers)).not.toMatch(/admin/i);
    await using plain = await startService({ extensions: [extension] });
    const without = await plain.anonymous().get('/openapi.json');
    const port = (origin: string) => new RegExp(`:${new URL(origin).port}`, 'g');
    expect(JSON.stringify(ofCallers).replace(port(service.origin), '')).toBe(
      JSON.stringify(without.json()).replace(port(plain.origin), ''),
    );
    const references = JSON.stringify(own).matchAll(/#\/components\/(\w+)\/(\w[\w-]*)/g);
    for (const [, kind, name] of references) expect(own.components[kind!]).toHaveProperty(name!);
  });

  it('link to nothing that the admin port does not serve', async () => {
    const { admin } = started;
    for (const page of ['/', '/docs']) {
      const { text } = await admin.get(page);
      const links = Array.from(text.matchAll(/ (?:href|src)="(\/[^"]*)"/g), ([, link]) => link!);
      expect(links.length).toBeGreaterThan(4);
      for (const link of links) expect([link, (await admin.get(link)).status]).toEqual([link, 200]);
    }
  });

  it('give no origin access to the admin API', async () => {
    const { admin } = started;
    for (const origin of ['https://app.example.com', 'https://evil.example', 'null']) {
      const headers = { origin, 'access-control-request-method': 'POST' };
      const preflight = await admin.send('/admin/v1/keys', { method: 'OPTIONS', headers });
      expect(preflight.status).toBe(405);
      for (const answer of [preflight, await admin.get('/admin/v1/keys', { origin })]) {
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
    }
  });

  it('accept no token but the one in the header', async () => {
    const { origin, admin } = started;
    const anonymous = new Client(origin);
    for (const path of [`?token=${admin.key}`, `?access_token=${admin.key}`]) {
      expect((await anonymous.get(`/admin/v1/keys${path}`)).status).toBe(401);
    }
    const cookie = { cookie: `token=${admin.key}` };
    expect((await anonymous.get('/admin/v1/keys', cookie)).status).toBe(401);
    expect((await admin.get('/admin/v1/keys')).headers['set-cookie']).toBeUndefined();
  });

  it('write no token to the log', async () => {
    const { admin } = started;
    await admin.get('/admin/v1/keys', { 'x-request-id': admin.key! });
    await admin.get(`/${admin.key}`);
    expect(JSON.stringify(lines)).not.toContain(admin.key);
  });

  it('reject a message that is no HTTP', async () => {
    expect(await statuses(started.origin, 'nonsense\r\n\r\n')).toEqual([400]);
  });
});

describe('ADMIN_PORT', () => {
  /** An address of this machine that another program uses. */
  async function takenPort(): Promise<{ port: number; free: () => void }> {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    return { port, free: () => other.close() };
  }

  it('is closed by default, and closes with the server', async () => {
    const { service, admin } = await startAdminService();
    expect((await admin.get(KEYS)).status).toBe(200);
    await service.close();
    await expect(admin.get(KEYS)).rejects.toThrow();
    await using off = await startService();
    expect((await off.anonymous().get(KEYS)).status).toBe(404);
  });

  it('serves the console after too many requests to the public pages', async () => {
    const { service: started, origin } = await startAdminService({
      clock: new FakeClock(Date.now()),
    });
    await using service = started;
    const anonymous = service.anonymous();
    const requests = Array.from({ length: 601 }, () => anonymous.get('/llms.txt'));
    const answers = await Promise.all(requests);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
    expect((await fetch(origin)).status).toBe(200);
  });

  it('completes a request in progress when the server stops', async () => {
    // A slow machine must not reach the end of the grace period.
    const env = { SHUTDOWN_GRACE_SECONDS: '60' };
    const { service, origin, admin } = await startAdminService({ env });
    const body = JSON.stringify({ name: 'Zoo', plan: 'free' });
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${KEYS} HTTP/1.1\r\nHost: zoo\r\nAuthorization: Bearer ${admin.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    // The server has read the head of the first request once it has answered a later one.
    expect((await admin.get(KEYS)).status).toBe(200);
    const closed = service.close();
    await eventually(() =>
      admin.get(KEYS).then(
        () => false,
        () => true,
      ),
    );
    socket.write(body);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 201 [^]*\r\nconnection: close\r\n/i);
    await closed;
  });

  it('stops the start if another program uses it', async () => {
    const { port, free } = await takenPort();
    const env = { ADMIN_PORT: String(port) };
    await expect(startAndClose({ env })).rejects.toThrow(
      /EADDRINUSE.*choose a free one with ADMIN_PORT/,
    );
    free();
  });

  it('is closed if another program uses PORT', async () => {
    const { port, free } = await takenPort();
    const adminPort = String(await freePort());
    const env = { PORT: String(port), HOST: '127.0.0.1', ADMIN_PORT: adminPort };
    await expect(startAndClose({ env })).rejects.toThrow(/EADDRINUSE/);
    await expect(fetch(`http://127.0.0.1:${adminPort}`)).rejects.toThrow();
    free();
  });

  it('calls no lifecycle hook of the service a second time', async () => {
    const calls: string[] = [];
    const seen = new Set<unknown>();
    const record = (given: unknown) => {
      const instance = given as Record<string, unknown>;
      for (const hook of seen.has(instance) ? [] : HOOKS) {
        const own = instance?.[hook];
        if (typeof own !== 'function') continue;
        const name = `${instance.constructor.name} ${seen.size} ${hook}`;
        instance[hook] = (...values: unknown[]) => {
          calls.push(name);
          return own.apply(instance, values);
        };
      }
      seen.add(instance);
      return instance;
    };
    const { service } = await startAdminService({
      createNest: (module, adapter, options) =>
        NestFactory.create<NestFastifyApplication>(module, adapter, {
          ...options,
          instrument: { instanceDecorator: record },
        }),
    });
    await service.close();
    expect(calls.join()).toMatch(/KeyCache \d+ onModuleInit.*BackgroundTasks \d+ before/);
    expect(calls).toEqual([...new Set(calls)]);
  });

  it('keeps its requests from middleware, guards and interceptors of extensions', async () => {
    const { service, admin } = await startAdminService({
      extensions: [{ module: WatchingModule }],
    });
    for (const path of [KEYS, '/', '/docs', '/nothing']) await admin.get(path);
    expect(watched).toEqual([]);
    const client = await service.client();
    await client.get('/v1/pets');
    expect(watched).toEqual(['middleware', 'guard', 'interceptor']);
    await service.close();
  });
});
