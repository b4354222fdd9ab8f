import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import type { Client } from '../support/client.js';
import { describeWith, itWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type TestService } from '../support/start-service.js';
import { TemporaryDirectory } from '../support/temporary-directory.js';

/** Runs in the page, not here. */
declare const navigator: { clipboard: { readText(): Promise<string> } };
declare const document: {
  getAnimations(): unknown[];
  documentElement: { scrollWidth: number; classList: { contains(name: string): boolean } };
};
declare const axe: { run(root: unknown): Promise<{ violations: Violation[] }> };
interface Violation {
  id: string;
  nodes: { target: string[] }[];
}
const run = promisify(execFile);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

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
    browser = await launchChromium(executablePath);
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
    page = await context.newPage();
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${service.origin}/`);
    await authorize();
  });
  afterAll(async () => {
    await browser?.close();
    await service.close();
  });

  async function violations(): Promise<string[]> {
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => (await axe.run(document)).violations);
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]!.target.join(' ')}`);
  }

  async function show(scheme: 'light' | 'dark'): Promise<void> {
    await page.emulateMedia({ colorScheme: scheme });
    // The page reacts after a while, and then its colours fade in.
    await page.waitForFunction(
      (isDark) => document.documentElement.classList.contains('dark-mode') === isDark,
      scheme === 'dark',
    );
    await page.waitForFunction(() => document.getAnimations().length === 0);
  }

  async function authorize(): Promise<void> {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
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

  it('starts with name, base address, a request, plans and operations', async () => {
    const other = await page.context().newPage();
    for (const [width, height] of [
      [1280, 900],
      [390, 844],
    ] as const) {
      await other.setViewportSize({ width, height });
      await other.goto(`${service.origin}/docs`);
      await other.locator('.opblock').first().waitFor();
      const first = ['h1', '.servers select', '.first-request', '.plans', '.opblock >> nth=0'];
      const bottoms = await Promise.all(
        first.map(async (selector) => {
          const { y, height: tall } = (await other.locator(selector).boundingBox())!;
          return y + tall;
        }),
      );
      expect(bottoms).toEqual([...bottoms].sort((one, two) => one - two));
      expect(bottoms.at(-1)).toBeLessThan(height);
    }
    expect(await other.locator('.plans').innerText()).toMatch(
      /Free\s+60 a minute, 1,000 a day\s+Pro\s+300 a minute, 10,000 a day\s+Business[^]*Enterprise/,
    );
    expect(await other.locator('.about').innerText()).not.toContain('key_banned');
    await other.getByText('Rate limits', { exact: false }).first().click();
    expect(await other.locator('.about').innerText()).toContain('key_banned');
    await other.close();
  });

  it('shows a plan of the configuration whose name has a hyphen', async () => {
    const plans = { 'big-zoo': { perMinute: 6, perDay: 60 } };
    await using zoo = await startService({ plans });
    const other = await page.context().newPage();
    await other.goto(`${zoo.origin}/docs`);
    expect(await other.locator('.plans').innerText()).toMatch(
      /Business[^]*Big-zoo\s+6 a minute, 60 a day\s+Enterprise/,
    );
    await other.close();
  });

  it('has a curl command for this server that works as it is', async () => {
    const command = await page.locator('.first-request pre').innerText();
    expect(command).toContain(`${service.origin}/v1/pets`);
    const { stdout } = await run('bash', ['-c', command], {
      env: { ...process.env, PETSTORE_API_KEY: client.key! },
    });
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ name: 'George' })]);
  });

  it('accepts a key that is pasted with its scheme, its header or quotes', async () => {
    for (const pasted of ['bearer  KEY ', 'Authorization: Bearer KEY', '"KEY"', 'KEY\u200B']) {
      await page.getByRole('button', { name: 'Authorize', exact: true }).click();
      await page.getByRole('button', { name: 'Logout' }).click();
      await page.locator('.auth-container input').fill(pasted.replace('KEY', client.key!));
      await page.locator('.auth-btn-wrapper button.authorize').click();
      await page.locator('.auth-btn-wrapper button.btn-done').click();
      // Without the hash of an operation, which would open it.
      await page.goto('about:blank');
      await page.goto(`${service.origin}/docs`);
      expect([pasted, (await execute('listPets')).status]).toEqual([pasted, '200']);
    }
  });

  it('lists pets with the key, and shows the remaining quota', async () => {
    const { status, text } = await execute('listPets');
    expect(status).toBe('200');
    expect(text).toContain('George');
    expect(text).toMatch(/x-ratelimit-remaining: ?\d+/);
    expect(text).toMatch(/ratelimit-policy: ?"minute";q=60/);
  });

  it('creates a pet from the example, and another one the next time', async () => {
    const { status, text } = await execute('createPet');
    expect(status).toBe('201');
    expect(text).toContain('Rex');
    expect(text).toMatch(/location: ?http/);
    await operation('createPet').locator('button.btn-clear').click();
    const again = await execute('createPet');
    expect(again.status).toBe('201');
    expect(again.text).not.toContain('idempotent-replayed');
  });

  for (const [language, file, ...command] of [
    ['curl', 'sample.sh', 'bash', '-e'],
    ['JavaScript', 'sample.mjs', 'node'],
    ['Python', 'sample.py', 'python3'],
    ['Go', 'main.go', 'go', 'run'],
    ['Java', 'Main.java', 'java'],
  ] as const) {
    const test = async (): Promise<void> => {
      using directory = new TemporaryDirectory();
      const samples = operation('createPet').locator('.samples');
      if ((await samples.getAttribute('open')) === null) await samples.locator('summary').click();
      await samples.getByRole('button', { name: language, exact: true }).click();
      const path = join(directory.path, file);
      writeFileSync(path, await samples.locator('pre').innerText());
      const [program, ...options] = command;
      const { stdout } = await run(program, [...options, path], {
        cwd: directory.path,
        env: {
          ...process.env,
          ...{ PETSTORE_API_KEY: client.key!, GOPROXY: 'off', GOTOOLCHAIN: 'local' },
        },
      });
      expect(stdout).toMatch(/"id":\d+,"name":"Rex","categoryId":7,"status":"available"/);
    };
    itWith(command[0])(`has a code sample in ${language} that creates a pet`, test, 300_000);
  }

  it('shows an error', async () => {
    const block = operation('getPet');
    await block.locator('.opblock-summary-control').click();
    await block.locator('input[placeholder="petId"]').fill('4711');
    const { status, text } = await execute('getPet');
    expect(status).toBe('404');
    expect(text).toContain('pet_not_found');
  });

  // swagger-api/swagger-ui#2030, open in other words for ten years.
  it('shows an int64 to the last digit, as it was sent', async () => {
    const block = operation('createPet');
    await block.locator('button.btn-clear').click();
    const body = { name: 'Max', categoryId: 7 };
    const text = JSON.stringify(body).replace('7', '9223372036854775807');
    await block.locator('textarea.body-param__text').fill(text);
    expect((await execute('createPet')).text).toContain('"categoryId": 9223372036854775807');
  });

  it('leads to the next page of Link', async () => {
    const block = operation('listPets');
    await block.locator('tr[data-param-name="limit"] input').fill('2');
    expect((await execute('listPets')).text).toContain('George');
    await block.getByRole('button', { name: 'Next page' }).click();
    const live = block.locator('.live-responses-table');
    await live
      .getByText('"id": 3,')
      .or(live.getByText('3', { exact: true }))
      .first()
      .waitFor();
    expect(await live.innerText()).toMatch(/"id": 3,/);
    expect(await live.innerText()).not.toContain('George');
  });

  it('has a meter of the remaining quota', async () => {
    const row = page.locator('#quota [data-window="minute"]');
    const left = () => row.locator('b').innerText();
    await execute('getPet');
    await eventually(async () => (await left()) !== '');
    // The quota is full again when a minute ends meanwhile.
    await eventually(async () => {
      const before = Number(await left());
      await execute('getPet');
      return Number(await left()) < before;
    });
    expect(await row.locator('meter').getAttribute('max')).toBe('60');
  });

  it('folds the documentation of errors until it is opened', async () => {
    const block = operation('listPets');
    expect(await block.locator('.unfolded[data-code="401"]').count()).toBe(0);
    await block.getByRole('button', { name: 'Missing or invalid API key.' }).click();
    expect(await block.locator('.unfolded[data-code="401"]').innerText()).toContain('api_key');
  });

  it('shows the removal date and the replacement of getPet before it is opened', async () => {
    const other = await page.context().newPage();
    await other.goto(`${service.origin}/docs`);
    expect(await other.locator('#operations-pets-getPet .sunset').innerText()).toContain('2030');
    await other.close();
    expect(await operation('getPet').locator('.sunset').innerText()).toBe(
      'Deprecated, to be removed on 2030-12-05. Use /pets with a status filter if the status is known.',
    );
  });

  it.each(['light', 'dark'] as const)(
    'has no violation that axe reports, and fits a phone with every operation open, %s',
    async (scheme) => {
      await show(scheme);
      expect(await violations()).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.locator('.opblock .live-responses-table').count()).toBe(3);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      expect(await violations()).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 1000 });
    },
  );

  it('keeps the key over a reload, but not for another tab', async () => {
    await page.reload();
    expect((await execute('listPets')).status).toBe('200');
    const other = await page.context().newPage();
    await other.goto(`${service.origin}/docs`);
    await other.getByRole('button', { name: 'Authorize', exact: true }).click();
    expect(await other.locator('.auth-container input').first().inputValue()).toBe('');
    await other.close();
  });

  it('remembers the key on the device on request', async () => {
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByLabel('Remember the key on this device').check();
    expect(await violations()).toEqual([]);
    const other = await page.context().newPage();
    await other.goto(`${service.origin}/docs`);
    await other.getByRole('button', { name: 'Authorize', exact: true }).click();
    await other.getByRole('button', { name: 'Logout' }).click();
    await other.close();
    await page.reload();
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    expect(await page.locator('.auth-container input').first().inputValue()).toBe('');
  });

  it('prints all operations open, and then closes them again', async () => {
    const other = await page.context().newPage();
    await other.goto(`${service.origin}/docs`);
    await other.locator('.opblock').first().waitFor();
    const pagesOf = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type \/Page\b/g)!.length;
    const closed = pagesOf(await other.pdf());
    expect(await other.locator('.opblock-body').count()).toBe(0);
    for (const control of await other.locator('.opblock-summary-control').all()) {
      await control.click();
    }
    expect(pagesOf(await other.pdf())).toBe(closed);
    expect(await other.locator('.opblock-body').count()).toBe(
      await other.locator('.opblock').count(),
    );
    expect(closed).toBeGreaterThan(1);
    await other.close();
  });

  it('finds operations, error codes and guides by the keyboard alone', async () => {
    await page.goto(`${service.origin}/docs`);
    await operation('listPets').waitFor();
    const results = page.locator('.results');
    const find = async (text: string, kind: string) => {
      await page.locator('body').press('/');
      await page.getByRole('searchbox').fill(text);
      await results.locator('a', { hasText: kind }).first().waitFor();
      expect(await violations()).toEqual([]);
      await page.keyboard.press('ArrowDown');
      expect(await results.locator('a:focus').innerText()).toContain(kind);
      await page.keyboard.press('Enter');
      expect(await results.isVisible()).toBe(false);
    };
    await find('add pet', 'Operation');
    await operation('createPet').locator('.opblock-body').waitFor();
    await find('pet_not_found', 'Error code');
    await page.waitForURL('**/docs/guides/clients#pet_not_found');
    await find('retry failed', 'Calling the API');
    await page.waitForURL('**/docs/guides/clients#retry-failed-requests');
    await find('/usage', 'Operation');
    await page.waitForURL('**/docs#/usage/getUsage');
    await page.locator('#operations-usage-getUsage .opblock-body').waitFor();
    await page.locator('body').press('/');
    await page.getByRole('searchbox').fill('no such words');
    await results.getByText('No results').waitFor();
    await page.keyboard.press('Escape');
    expect(await results.isVisible()).toBe(false);
  });

  it('has guides beside the reference', async () => {
    await page.goto(`${service.origin}/docs/guides/clients#pet_not_found`);
    expect(await page.locator('h3#pet_not_found').isVisible()).toBe(true);
    expect(await violations()).toEqual([]);
  });

  it.each(['clients', 'extending', 'typescript'])(
    'has contents, buttons that copy, and links in the guide %s, which fits a phone',
    async (guide) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${service.origin}/docs/guides/${guide}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      expect(await violations()).toEqual([]);
      const alone = await page.evaluate(
        `Array.from(document.querySelectorAll('.anchor'))
          .filter((link) => link.offsetLeft === link.parentElement.offsetLeft).map(String)`,
      );
      expect(alone).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 1000 });

      const contents = page.getByRole('navigation', { name: 'Contents' }).getByRole('link');
      expect(await contents.allInnerTexts()).toEqual(
        (await page.locator('main h2').allInnerTexts()).map((text) => text.replace(/\s#$/, '')),
      );
      await contents.last().click();
      expect(await page.locator('h2:target').count()).toBe(1);

      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const blocks = page.locator('.guide pre');
      const copy = page.getByRole('button', { name: 'Copy', exact: true });
      expect(await copy.count()).toBe(await blocks.count());
      await copy.first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied.trim()).toBe((await blocks.first().innerText()).trim());
      await page.evaluate(
        'navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false',
      );
      await copy.last().press('Enter');
      const told = page.getByRole('button', { name: 'Select the text and copy it' });
      await told.waitFor();
      expect(await told.evaluate((button) => button.matches(':focus'))).toBe(true);

      const links = page.locator('main a:not([href^="#"])');
      for (const href of await links.evaluateAll((all: { href: string }[]) =>
        all.map((link) => link.href),
      )) {
        if (!href.startsWith(service.origin)) continue;
        expect([href, (await page.request.get(href)).status()]).toEqual([href, 200]);
      }
      expect(await page.locator('main').innerText()).not.toContain('http://localhost:3000');
    },
  );

  it("shows no quota of the address as the key's", async () => {
    const other = await page.context().newPage();
    await other.goto(`${service.origin}/docs`);
    await other.getByRole('button', { name: 'Authorize', exact: true }).click();
    await other.locator('.auth-container input').fill(`${client.key!.slice(0, -1)}!`);
    await other.locator('.auth-btn-wrapper button.authorize').click();
    await other.locator('.auth-btn-wrapper button.btn-done').click();
    const block = other.locator('#operations-usage-getUsage');
    await block.locator('.opblock-summary-control').click();
    await block.locator('button.execute').click();
    await block.locator('.headerline', { hasText: 'x-ratelimit-remaining' }).waitFor();
    expect(await other.locator('#quota').isVisible()).toBe(false);
    await other.close();
  });

  it('works by the host name, too', async () => {
    await page.goto(`http://localhost:${port}/docs`);
    await page.locator('#operations-pets-listPets').waitFor();
    expect(await page.locator('.servers select').inputValue()).toBe(`http://localhost:${port}/v1`);
    await authorize();
    expect((await execute('listPets')).status).toBe('200');
  });

  it('loads nothing from another origin, and logs no error', () => {
    const own = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, 'data:'];
    expect(requested.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
    // The 404 of the test above is expected.
    expect(complaints.filter((text) => !/404/.test(text))).toEqual([]);
  });
});
