import { readFileSync } from 'node:fs';
import { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { Nginx, SITE } from '../support/nginx.js';
import { startService, type TestService } from '../support/start-service.js';

/** The site with what docs/operating.md says of a base address with a path. */
function siteWithPath(): string {
  const guide = readFileSync('docs/operating.md', 'utf8');
  const [map, location] = [...guide.matchAll(/^```nginx\n(.*?)^```$/gms)].map(([, text]) => text!);
  return readFileSync(SITE, 'utf8')
    .replace(/^server \{/m, () => `${map}\nserver {`)
    .replace(/location \/ \{.*?proxy_pass [^;]*;\n/s, () => location!);
}

describeWith('nginx', 'behind a base address with a path', (program) => {
  let service: TestService;
  let nginx: Nginx;
  let origin: string;
  let client: Client;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    service = await startService({ env: { PUBLIC_BASE_URL: `${origin}/store/v1` } });
    nginx = new Nginx(program, port, [Number(new URL(service.origin).port), 1], siteWithPath());
    await nginx.start();
    const { key } = await service.client();
    client = new Client(origin, key);
    for (const name of ['George', 'Leo']) {
      await client.post('/store/v1/pets', { name, categoryId: 7 });
    }
  });
  afterAll(async () => {
    client?.close();
    await nginx?.[Symbol.asyncDispose]();
    await service.close();
  });

  it('serves what the answers lead to', async () => {
    const created = await client.post('/store/v1/pets', { name: 'Basil', categoryId: 7 });
    expect(created.status).toBe(201);
    const location = created.headers.location!;
    expect(location).toMatch(`${origin}/store/v1/pets/`);
    expect((await client.get(new URL(location).pathname)).status).toBe(200);
    const list = await client.get('/store/v1/pets?limit=1');
    const next = new URL(/<([^>]*)>/.exec(String(list.headers['link']))![1]!);
    expect((await client.get(next.pathname + next.search)).text).toContain('Leo');
  });

  it.each(['/v1/pets', '/store/docs', '/metrics'])('serves no %s', async (path) => {
    expect((await client.get(path)).status).toBe(404);
  });

  it('sends the target on byte for byte', async () => {
    expect((await client.get('/store/v1/pets/1%2F')).json().code).toBe('pet_not_found');
    expect((await client.get('/store/v1/pets//1')).json().code).toBe('not_found');
  });
});
