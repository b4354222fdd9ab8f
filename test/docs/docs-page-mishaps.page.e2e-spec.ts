import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type TestService } from '../support/start-service.js';

interface Schema {
  properties?: Record<string, object>;
  allOf?: Schema[];
}

interface OpenApi {
  components: { schemas: Record<string, Schema> };
}

describeWith('chromium', 'the documentation under difficulties', (executablePath) => {
  let service: TestService;
  let browser: Browser | undefined;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    service = await startService();
    browser = await launchChromium(executablePath);
  });
  afterAll(async () => {
    await browser?.close();
    await service.close();
  });
  beforeEach(async () => {
    context = await browser!.newContext();
    page = await context.newPage();
    complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  const open = () => page.goto(`${service.origin}/docs`);
  const reference = () => page.locator('#operations-pets-listPets');
  const authorizeButton = () => page.locator('.auth-wrapper > .authorize');

  it.each([
    ['429', { status: 429, headers: { 'retry-after': '1' } }, 'Too many requests'],
    ['503', { status: 503, headers: { 'retry-after': '1' } }, 'The reference cannot be loaded'],
    ["a proxy's page", { body: '<html>', headers: { 'retry-after': '1' } }, 'cannot be loaded'],
  ])('reports that the document is %s, and tries again', async (_what, answer, message) => {
    let isRefused = true;
    await page.route('**/openapi.json', (route) =>
      isRefused ? route.fulfill(answer) : route.continue(),
    );
    await open();
    await page.getByText(`${message}: retrying in 1 s`).waitFor();
    isRefused = false;
    await reference().waitFor();
  });

  it.each(['swagger-ui-bundle.js', 'page.js'])(
    'reports that %s cannot be loaded, and reloads itself later',
    async (name) => {
      await page.clock.install();
      let [loads, refusals] = [0, 0];
      page.on('domcontentloaded', () => loads++);
      let isRefused = true;
      await page.route(`**/${name}`, (route) => {
        if (!isRefused) return route.continue();
        refusals++;
        return route.fulfill({ status: 429, headers: { 'retry-after': '45' } });
      });
      await open();
      await page.getByText('failed to load: retrying in 45 s').waitFor();
      const before = refusals;
      await page.clock.fastForward(45_000);
      await eventually(() => Promise.resolve(refusals > before));
      expect(loads).toBe(1);
      isRefused = false;
      await page.clock.fastForward(45_000);
      await reference().waitFor();
      expect(loads).toBe(2);
      // Errors because of the missing script are expected.
      complaints = [];
    },
  );

  it('reports that a script has a syntax that the browser does not know', async () => {
    await page.route('**/page.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'let new syntax;' }),
    );
    await open();
    await page.getByText(/This page does not work: .*SyntaxError.*last three years/).waitFor();
    complaints = [];
  });

  /** Opens listPets of a document with another schema of a pet. */
  async function openWithPet(change: (pet: Schema) => Schema): Promise<void> {
    await page.route('**/openapi.json', async (route) => {
      const answer = await route.fetch();
      const spec = (await answer.json()) as OpenApi;
      const { schemas } = spec.components;
      schemas['Pet'] = change(schemas['Pet']!);
      await route.fulfill({ response: answer, json: spec });
    });
    await open();
    await reference().locator('.opblock-summary-control').click();
  }

  it('shows an example of a schema that combines two', async () => {
    const more = { properties: { nickname: { type: 'string', example: 'Rexie' } } };
    await openWithPet((pet) => ({ allOf: [pet, more] }));
    await reference()
      .getByText(/"categoryId"[^]*"nickname": "Rexie"/)
      .first()
      .waitFor();
  });

  it('opens an operation whose schema contains itself', async () => {
    const parent = { $ref: '#/components/schemas/Pet' };
    await openWithPet((pet) => ({ ...pet, properties: { ...pet.properties, parent } }));
    await reference().getByRole('tab', { name: 'Schema' }).click();
    await reference().getByRole('button', { name: 'Expand all' }).first().click();
    await reference().getByText('parent', { exact: true }).waitFor();
  });

  it('accepts a key if the browser forbids storage', async () => {
    const { key } = await service.client();
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) {
      const get = () => { throw new DOMException('Access is denied', 'SecurityError'); };
      Object.defineProperty(window, name, { get });
    }`);
    await open();
    await authorizeButton().click();
    expect(await page.getByLabel('Remember the key on this device').count()).toBe(0);
    await page.locator('.auth-container input').fill(key!);
    await page.locator('.auth-btn-wrapper button.authorize').click();
    await page.locator('.auth-btn-wrapper button.btn-done').click();
    await reference().locator('.opblock-summary-control').click();
    await reference().locator('button.execute').click();
    const live = reference().locator('.live-responses-table .response');
    await live.waitFor();
    expect(await live.locator('.response-col_status').innerText()).toMatch(/^200/);
  });

  it('keeps the focus in the dialog of Authorize, and returns it afterwards', async () => {
    await open();
    await authorizeButton().focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Available authorizations' });
    await dialog.waitFor();
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press('Tab');
      // Behind the end of the dialog, the focus is in the browser.
      expect(await page.locator('.modal-ux :focus, body:not(:focus-within)').count()).toBe(1);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.locator('.auth-wrapper > .authorize:focus').count()).toBe(1);
  });
});
