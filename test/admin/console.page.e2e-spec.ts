import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { saveUsage } from '../support/background.js';
import { type AdminService, issueAdminToken, startAdminService } from '../support/admin.js';
import { launchChromium } from '../support/chromium.js';
import type { Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { tabTo } from '../support/keyboard.js';

/** Runs in the page, not here. */
declare const document: {
  cookie: string;
  documentElement: { scrollWidth: number; outerHTML: string };
};
declare const localStorage: object;
declare const sessionStorage: { getItem(name: string): string | null };
declare const axe: { run(root: unknown): Promise<{ violations: Violation[] }> };
interface Violation {
  id: string;
  nodes: { target: string[] }[];
}
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror="document.title=\'hacked\'">"\'><script>alert(1)</script>';

describeWith('chromium', 'the console in a browser', (executablePath) => {
  let started: AdminService;
  let browser: Browser | undefined;
  let page: Page;
  let caller: Client;
  const complaints: string[] = [];
  const requested: string[] = [];

  beforeAll(async () => {
    started = await startAdminService();
    browser = await launchChromium(executablePath);
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    });
    page = await context.newPage();
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('dialog', (dialog) => complaints.push(dialog.message()));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    caller = await started.service.client({
      name: 'City zoo',
      plan: 'free',
      perMinute: undefined,
      perDay: undefined,
    });
    await page.goto(started.origin);
  });
  afterAll(async () => {
    await browser?.close();
    await started?.service.close();
  });

  const flush = () => saveUsage(started.service);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  type Role = Parameters<typeof tabTo>[2];
  const focus = (name: string, role: Role) => tabTo(page, name, role);

  async function signIn(): Promise<void> {
    if (await heading('Sign in').isVisible()) {
      await page.getByLabel('Admin token').fill(started.admin.key!);
      await page.keyboard.press('Enter');
    }
    await page.getByRole('navigation').waitFor();
  }

  /** Opens a view. What is found afterwards is not a part of the view that was shown before. */
  async function open(hash: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${started.origin}/#${hash}`);
    await signIn();
  }

  it('finds by keyboard alone why a caller is rejected, mends it, and is in the audit trail', async () => {
    for (let count = 0; count < 62; count++) await caller.get('/v1/pets');
    await flush();
    await focus('Admin token', 'textbox');
    await page.keyboard.type(started.admin.key!);
    await page.keyboard.press('Enter');
    await heading('Keys').waitFor();
    await focus('Name, ID or last 4 characters', 'searchbox');
    await page.keyboard.type('city');
    await page.keyboard.press('Enter');
    await page.waitForURL(/search=city/);
    await focus('City zoo', 'link');
    await page.keyboard.press('Enter');
    await heading('City zoo').waitFor();
    const limited = page.getByText(/limited per minute: 60 of 60 used, resets in \d+ s/).first();
    await eventually(async () => {
      // The minute may have ended.
      while ((await caller.get('/v1/pets')).status !== 429) continue;
      await flush();
      await page.reload();
      await heading('City zoo').waitFor();
      return limited.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    });
    await page.getByText('Requests with this key are rejected.').waitFor();

    await focus('Change', 'button');
    await page.keyboard.press('Enter');
    await focus('Plan', 'combobox');
    await page.keyboard.type('pro');
    await focus('Save', 'button');
    await page.keyboard.press('Enter');
    await page.getByText('The change is saved.').waitFor();
    await page.getByText('Requests with this key are accepted.').waitFor();
    // Of the limit at that time, nothing is known.
    await page
      .getByText(/limited per minute: it was used up then; \d+ of 300 are left now/)
      .first()
      .waitFor();
    await eventually(async () => (await caller.get('/v1/pets')).status === 200);

    await focus('Changes of this key', 'link');
    await page.keyboard.press('Enter');
    await heading('Audit trail').waitFor();
    const row = page.getByRole('row', { name: /key\.set_plan/ });
    expect(await row.textContent()).toMatch(/admin:ann.*free → pro/);
  });

  it('shows a new key once, and says what is wrong with a new one', async () => {
    await open('keys');
    await page.getByRole('button', { name: 'Issue a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill(' ');
    await page.getByRole('button', { name: 'Issue', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/name must be/)
      .waitFor();
    await page.getByLabel('Name', { exact: true }).fill(HOSTILE);
    await page.getByLabel('Plan').last().selectOption('enterprise');
    await page.getByLabel('Per minute').fill('5000');
    await page.getByLabel('Per day').fill('100000');
    await page.getByRole('button', { name: 'Issue', exact: true }).click();
    const key = await page.locator('.secret').textContent();
    expect((await caller.get('/v1/pets', { authorization: `Bearer ${key}` })).status).toBe(200);
    await page.getByRole('link', { name: 'Show this key' }).click();
    await heading(HOSTILE).waitFor();
    expect(await page.locator('main').textContent()).toContain('5,000 a minute, 100,000 a day');
    expect(await page.evaluate(() => document.documentElement.outerHTML)).not.toContain(key);
  });

  it('shows a new key and says what is wrong, even if the view behind it cannot be loaded', async () => {
    await open('keys');
    await page.route('**/admin/v1/usage', (route) => route.abort());
    await page.getByRole('button', { name: 'Issue a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Unlucky');
    await page.getByRole('button', { name: 'Issue', exact: true }).click();
    await page.getByText('The server does not respond.').waitFor();
    expect(await page.locator('.secret').textContent()).toMatch(/^psk_/);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.unroute('**/admin/v1/usage');
    // Chromium reports failed requests itself.
    expect(complaints.filter((text) => !text.includes('Failed to load'))).toEqual([]);
    complaints.length = 0;
  });

  it('asks before it revokes a key, and shows the state', async () => {
    const client = await started.service.client({ name: 'Lost laptop' });
    await open(`key/${client.keyId}`);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('heading', { name: 'Revoke the key of Lost laptop?' }).waitFor();
    await page.keyboard.press('Escape');
    expect((await client.get('/v1/pets')).status).toBe(200);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key is revoked. This is final: issue another key.').waitFor();
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
  });

  it('explains a ban, a disabled key and a missing scope, each with the next step', async () => {
    const client = await started.service.client({ perMinute: 1, perDay: 1_000_000 });
    while (!(await client.get('/v1/pets')).text.includes('key_banned'));
    const reader = await started.service.client({ scopes: ['pets:read'] });
    await reader.post('/v1/pets', { name: 'x', categoryId: 1 });
    await flush();
    await open(`key/${client.keyId}`);
    await page
      .getByText(/Unban ends it now\. The caller must wait for Retry-After/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Unban' }).click();
    await page.getByText('The ban is over.', { exact: true }).waitFor();
    await open(`key/${reader.keyId}`);
    await page.getByText('The key lacked the scope of this operation.').waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('The key is disabled. Enable it when the reason is gone.').waitFor();
  });

  it('explains rejected requests by the key that they used, whatever became of the key shown', async () => {
    const client = await started.service.client({ name: 'Rotated' });
    const path = `/admin/v1/keys/${client.keyId}`;
    const { id } = (await started.admin.post(`${path}/rotate`, {})).json() as { id: string };
    await started.admin.post(`${path}/revoke`, {});
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
    await flush();
    const explanation = page
      .getByRole('region', { name: 'Latest rejected requests' })
      .getByRole('cell')
      .first();
    for (const disabled of [false, true]) {
      await started.admin.post(`/admin/v1/keys/${id}`, { disabled }, {}, 'PATCH');
      await open(`key/${id}`);
      await heading('Rotated').waitFor();
      expect(await explanation.innerText()).toBe(
        `The latest request used another key of this client, ${client.keyId}. ` +
          `The key is revoked and was replaced. The caller must use ${id}.`,
      );
    }
    await explanation.getByRole('link', { name: client.keyId! }).click();
    // The view of the other key has the same title and the same verdict.
    const advice = `The key is revoked and was replaced. The caller must use ${id}.`;
    await eventually(async () => (await explanation.innerText()) === advice);
  });

  it('runs no stored text as a script, and marks it in no other way', async () => {
    const keys = started.service.store.app.get(KeysService);
    const by = { type: 'admin', name: `admin:${HOSTILE}` } as const;
    const { record } = await keys.issue(
      { name: HOSTILE, plan: 'free' },
      { actor: by, address: HOSTILE.slice(0, 60), requestId: HOSTILE },
    );
    for (const hash of ['keys', 'audit', `key/${record.id}`, `audit?key=${HOSTILE}`, HOSTILE]) {
      await open(hash);
      await page.locator('h1').waitFor();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.title()).not.toBe('hacked');
    }
  });

  it('keeps the token in this tab alone, and forgets it on sign-out and on 401', async () => {
    await open('keys');
    const isStored = () =>
      page.evaluate(() => sessionStorage.getItem('petstore-admin-token') !== null);
    expect(await isStored()).toBe(true);
    expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).toBe('{}');
    expect(requested.join()).not.toContain('psa_');
    expect(requested.every((url) => url.startsWith(started.origin))).toBe(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading('Sign in').waitFor();
    expect(await isStored()).toBe(false);
    complaints.length = 0;
    await page.getByLabel('Admin token').fill('psa_wrong');
    await page.keyboard.press('Enter');
    const advice = 'The token is not valid. Issue one: petstore admin issue --name NAME';
    await page.getByText(advice, { exact: true }).waitFor();
    expect(await isStored()).toBe(false);
    // Chromium reports the 401 itself.
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    complaints.length = 0;
  });

  it('restricts a key to addresses, and names the address that tried', async () => {
    const client = await started.service.client({ name: 'At home' });
    await open(`key/${client.keyId}`);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const field = page.getByLabel(/^Addresses that may use it/);
    await field.fill('203.0.113.0/33');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('allowedFrom must be').waitFor();
    // Chromium reports the 400 itself.
    expect(complaints.splice(0).filter((text) => !text.includes('400'))).toEqual([]);
    await field.fill('203.0.113.0/24\n2001:db8::1, 203.0.113.0/24');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The change is saved.').waitFor();
    await page.getByRole('cell', { name: '203.0.113.0/24, 2001:db8::1' }).waitFor();
    await page.getByText('are accepted from 203.0.113.0/24, 2001:db8::1.').waitFor();
    await eventually(async () => (await client.get('/v1/pets')).text.includes('address_not_'));
    await flush();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page
      .getByText('127.0.0.1 tried, which was not among the addresses of the key.')
      .waitFor();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    expect(await field.inputValue()).toBe('203.0.113.0/24\n2001:db8::1');
    await field.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: 'Addresses any' }).waitFor();
    await open(`audit?key=${client.keyId}&action=key.set_from`);
    const changes = page.locator('main tbody td:nth-child(5)');
    await changes.nth(1).waitFor();
    expect(await changes.allInnerTexts()).toEqual([
      'allowedFrom: 2001:db8::1 203.0.113.0/24 → any',
      'allowedFrom: any → 2001:db8::1 203.0.113.0/24',
    ]);
  });

  it('offers a viewer no button that changes a key, and says why', async () => {
    const token = await issueAdminToken(started.service, 'vic', { role: 'viewer' });
    const tab = await page.context().newPage();
    await tab.goto(started.origin);
    await tab.getByLabel('Admin token').fill(token);
    await tab.keyboard.press('Enter');
    await tab.getByText('it may only read').waitFor();
    expect(await tab.getByRole('button', { name: 'Issue a key' }).count()).toBe(0);
    await tab.goto(`${started.origin}/#key/${caller.keyId}`);
    await tab.getByRole('button', { name: 'Refresh' }).waitFor();
    await tab.getByText('it may only read').waitFor();
    for (const name of ['Change', 'Rotate', 'Disable', 'Revoke']) {
      expect(await tab.getByRole('button', { name, exact: true }).count()).toBe(0);
    }
    await tab.close();
  });

  it('cannot be framed by another page', async () => {
    const frame = await page.context().newPage();
    await frame.setContent(`<iframe src="${started.origin}/"></iframe>`);
    const inner = frame.frames().find((each) => each !== frame.mainFrame())!;
    await inner.waitForLoadState().catch(() => undefined);
    expect(await inner.locator('#main').count()).toBe(0);
    await frame.close();
  });

  it('cannot be operated by a page of another origin', async () => {
    await open('keys');
    const other = await page.context().newPage();
    await other.goto(`${started.service.origin}/health/live`);
    const sent = await other.evaluate(async (target) => {
      const body = JSON.stringify({ name: 'forged', plan: 'free' });
      const headers = { 'content-type': 'application/json' };
      const simple = { method: 'POST', body, credentials: 'include', mode: 'no-cors' } as const;
      await fetch(target, simple).catch(() => undefined);
      return fetch(target, { method: 'POST', body, headers }).then(
        () => 'sent',
        () => 'refused',
      );
    }, `${started.origin}/admin/v1/keys`);
    expect(sent).toBe('refused');
    expect((await started.admin.get('/admin/v1/keys?search=forged')).json()).toEqual([]);
    await other.close();
  });

  it.each(['light', 'dark'] as const)(
    'has no finding of axe in %s mode, and fits a phone',
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      const busy = await started.service.client({ perMinute: 1_000_000, perDay: 1 });
      await busy.get('/v1/pets');
      await eventually(async () =>
        (await started.admin.get('/admin/v1/usage')).text.includes(busy.keyId!),
      );
      for (const hash of ['keys', 'near', 'audit', `key/${caller.keyId}`]) {
        await open(hash);
        await page.locator('main table').first().waitFor();
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
          expect(await violations()).toEqual([]);
        }
      }
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      expect(await violations()).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await heading('Sign in').waitFor();
      expect(await violations()).toEqual([]);
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  );

  async function violations(): Promise<string[]> {
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => (await axe.run(document)).violations);
    return found.map(({ id, nodes }) => `${id}: ${nodes[0]!.target.join(' ')}`);
  }

  it('shows times in the zone of the reader, with UTC in the tooltip', async () => {
    await open('audit');
    const time = page.locator('main time').first();
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-.*Z \(UTC\)$/);
    const utc = Date.parse((await time.getAttribute('datetime'))!);
    const hour = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      timeStyle: 'medium',
    });
    expect(await time.textContent()).toContain(hour.format(utc));
  });

  it('has the document of the admin API in the page of /docs', async () => {
    await page.goto(`${started.origin}/docs`);
    await page.locator('#operations-keys-adminListKeys').waitFor();
    expect(await page.locator('.opblock').count()).toBe(10);
    // The parts of the page for callers are absent, not empty.
    for (const part of ['.plans', '.about']) expect(await page.locator(part).count()).toBe(0);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByLabel(/Remember the key/).check();
    await page.locator('.auth-container input').first().fill(started.admin.key!);
    await page.locator('.auth-btn-wrapper button.authorize').click();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('psa_');
    await page.locator('.auth-btn-wrapper button.btn-done').click();
    // A page with a successor has a relative link.
    for (let count = 0; count < 2; count++) await started.service.client();
    const list = page.locator('#operations-keys-adminListKeys');
    await list.locator('.opblock-summary-control').click();
    await list.locator('tr[data-param-name="limit"] input').fill('1');
    await list.locator('button.execute').click();
    const status = list.locator('.live-responses-table .response .response-col_status');
    expect(await status.innerText()).toMatch(/^200/);
  });

  it('causes no error in the browser', () => {
    expect(complaints).toEqual([]);
  });
});
