import { readFileSync } from 'node:fs';
import { launchChromium } from '../support/chromium.js';
import { FakeClock } from '../support/clock.js';
import { describeWith } from '../support/engines.js';
import { serveHttp } from '../support/serve-http.js';
import { startService } from '../support/start-service.js';
import { buildClient } from '../support/build-client.js';

/** Serves a page and the built client from another origin than that of the service. */
function servePage() {
  const dist = buildClient();
  return serveHttp(({ url = '/' }, response) => {
    const isModule = /^\/[a-z-]+\.js$/.test(url);
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? readFileSync(dist + url) : '<!doctype html><title>A page</title>');
  });
}

describeWith('chromium', 'the client in a browser', (executablePath) => {
  it('works from another origin: int64, pages, errors, quota, deprecation', async () => {
    await using page = await servePage();
    await using service = await startService({
      clock: new FakeClock(),
      env: { CORS_ORIGINS: page.origin },
    });
    const { key: apiKey } = await service.client({ plan: 'free' });
    await using browser = await launchChromium(executablePath);
    const tab = await browser.newPage();
    await tab.goto(page.origin);

    const script = `(async () => {
      const { PetStoreClient, NotFoundError } = await import('/index.js');
      const reported = [];
      const store = new PetStoreClient({
        baseUrl: ${JSON.stringify(service.origin)} + '/v1',
        apiKey: ${JSON.stringify(apiKey)},
        onDeprecation: ({ operation, sunset }) => reported.push(operation + ' ' + sunset.toISOString()),
      });
      const pet = await store.createPet({ name: 'Rex', categoryId: 9223372036854775807n });
      await store.createPet({ name: 'Leo', categoryId: 7n });
      const names = [];
      for await (const { name } of store.listPets({ pageSize: 1 })) names.push(name);
      const { response } = await store.getPet(pet.id).withResponse();
      const error = await store.getPet(4711n).catch((reason) => reason);
      const usage = await store.getUsage();
      return {
        categoryId: String(pet.categoryId),
        names,
        requestId: response.headers.get('x-request-id'),
        error: [error instanceof NotFoundError, error.code],
        rateLimit: store.rateLimit,
        plan: usage.plan,
        reported,
      };
    })()`;
    expect(await tab.evaluate(script)).toEqual({
      categoryId: '9223372036854775807',
      names: ['Rex', 'Leo'],
      requestId: expect.stringMatching(/./),
      error: [true, 'pet_not_found'],
      rateLimit: expect.objectContaining({
        limit: 60,
        minute: { limit: 60, remaining: 54 },
        day: { limit: 1_000, remaining: 994 },
      }),
      plan: 'free',
      reported: ['getPet 2030-12-05T00:00:00.000Z'],
    });
  });
});
