import { createServer } from 'node:http';
import { once } from 'node:events';
import { Public } from '../../src/http/public.decorator.js';
import { Controller, Get, Module } from '@nestjs/common';
import { startAdminService, useAdminService } from '../support/admin.js';
import { Client } from '../support/client.js';
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
  it('is closed by default, and drained and closed with the server', async () => {
    const { service, admin } = await startAdminService();
    expect((await admin.get('/admin/v1/keys')).status).toBe(200);
    await service.close();
    await expect(admin.get('/admin/v1/keys')).rejects.toThrow();
    await using off = await startService();
    expect((await off.anonymous().get('/admin/v1/keys')).status).toBe(404);
  });

  it('stops the start if another program uses it', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const env = { ADMIN_PORT: String(port) };
    await expect(startAndClose({ env })).rejects.toThrow(/EADDRINUSE/);
    other.close();
  });
});
