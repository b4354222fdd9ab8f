import { type Browser, chromium, type Page } from 'playwright-core';
import type { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { startService, type TestService } from '../support/start-service.js';

/** Runs in the page, not here. */
declare const getComputedStyle: (node: unknown) => { textDecorationLine: string };

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

describeWith('chromium', 'the documentation in a browser', (executablePath) => {
  let service: TestService;
  let client: Client;
  let browser: Browser | undefined;
  let page: Page;
  let port: string;
  const requested: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    service = await startService();
    port = new URL(service.origin).port;
    client = await service.client({ plan: 'free' });
    await client.post('/v1/pets', { name: 'George', categoryId: 7 });
    browser = await chromium.launch({ executablePath, args: FLAGS });
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${service.origin}/`);
    await authorize();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await service.close();
  });

  async function authorize(): Promise<void> {
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.locator('.auth-container input').fill(client.key!);
    await page.locator('.auth-btn-wrapper button.authorize').click();
    await page.locator('.auth-btn-wrapper button.btn-done').click();
  }

  const operation = (id: string) => page.locator(`#operations-pets-${id}`);

  async function execute(id: string): Promise<{ status: string; text: string }> {
    const block = operation(id);
    if ((await block.locator('.opblock-body').count()) === 0) {
      await block.locator('.opblock-summary-control').click();
    }
    await block.locator('button.execute').click();
    const live = block.locator('.live-responses-table .response');
    await live.waitFor();
    const status = await live.locator('.response-col_status').innerText();
    return { status: status.trim().split(/\s/)[0]!, text: await live.innerText() };
  }

  it('lists animals with the key, and shows what is left of the quota', async () => {
    const { status, text } = await execute('listPets');
    expect(status).toBe('200');
    expect(text).toContain('George');
    expect(text).toMatch(/x-ratelimit-remaining: ?\d+/);
    expect(text).toMatch(/ratelimit-policy: ?"minute";q=60/);
  });

  it('creates an animal from its example, and another one the next time', async () => {
    const { status, text } = await execute('createPet');
    expect(status).toBe('201');
    expect(text).toContain('Rex');
    expect(text).toMatch(/location: ?http/);
    await operation('createPet').locator('button.btn-clear').click();
    const again = await execute('createPet');
    expect(again.status).toBe('201');
    expect(again.text).not.toContain('idempotent-replayed');
  });

  it('shows an error', async () => {
    const block = operation('getPet');
    await block.locator('.opblock-summary-control').click();
    await block.locator('input[placeholder="petId"]').fill('4711');
    const { status, text } = await execute('getPet');
    expect(status).toBe('404');
    expect(text).toContain('pet_not_found');
  });

  it('shows of an error only the headers that are its own', async () => {
    const shown = operation('listPets').locator('.response[data-code="401"] .headers tbody tr');
    const texts = await shown.filter({ visible: true }).allInnerTexts();
    expect(texts).toEqual([expect.stringContaining('WWW-Authenticate')]);
    const success = operation('listPets').locator('.response[data-code="200"] .headers tbody tr');
    expect(await success.filter({ visible: true }).count()).toBeGreaterThan(6);
  });

  it('strikes getPet through', async () => {
    const path = operation('getPet').locator('.opblock-summary-path__deprecated');
    expect(await path.evaluate((node) => getComputedStyle(node).textDecorationLine)).toBe(
      'line-through',
    );
  });

  it('keeps the authorisation over a reload', async () => {
    await page.reload();
    expect((await execute('listPets')).status).toBe('200');
  });

  it('works by the name of the machine as well', async () => {
    await page.goto(`http://localhost:${port}/docs`);
    await page.locator('#operations-pets-listPets').waitFor();
    expect(await page.locator('.servers select').inputValue()).toBe(`http://localhost:${port}/v1`);
    await authorize();
    expect((await execute('listPets')).status).toBe('200');
  });

  it('loads nothing from elsewhere, and complains of nothing', () => {
    const own = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, 'data:'];
    expect(requested.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
    // The one refusal that was asked for.
    expect(complaints.filter((text) => !/404/.test(text))).toEqual([]);
  });
});
