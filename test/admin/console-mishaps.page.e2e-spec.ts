import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { type AdminService, startAdminService } from '../support/admin.js';
import { launchChromium } from '../support/chromium.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

/** Runs in the page, not here. */
declare const document: { activeElement: { name: string; tagName: string; textContent: string } };
declare const history: { length: number };

const DAY_MS = 86_400_000;

describeWith('chromium', 'the console under difficulties', (executablePath) => {
  let started: AdminService;
  let browser: Browser | undefined;
  let context: BrowserContext;
  let page: Page;
  /** Method, URL and body of each request of the page. */
  let sent: string[];

  beforeAll(async () => {
    started = await startAdminService();
    browser = await launchChromium(executablePath);
  });
  afterAll(async () => {
    await browser?.close();
    await started?.service.close();
  });
  beforeEach(async () => {
    context = await browser!.newContext({ timezoneId: 'Europe/Berlin', locale: 'en-GB' });
    page = await context.newPage();
    sent = [];
    page.on('request', (each) => {
      sent.push(`${each.method()} ${each.url()} ${each.postData() ?? ''}`);
    });
  });
  afterEach(() => context.close());

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const searchField = () => page.getByRole('searchbox');

  /** Opens a view, and signs in. */
  async function open(hash = 'keys', token = started.admin.key!): Promise<void> {
    await page.goto(`${started.origin}/#${hash}`);
    await page.getByLabel('Admin token').fill(token);
    await page.keyboard.press('Enter');
  }

  async function issue(terms: object = {}) {
    const answer = await started.admin.post('/admin/v1/keys', {
      name: 'Zoo',
      plan: 'free',
      ...terms,
    });
    return answer.json() as { id: string; key: string };
  }

  /** The texts of the first column of the list. */
  const found = () => page.locator('main tbody tr td:first-child').allInnerTexts();

  it('expects the token in the field that has the focus, also after signing out', async () => {
    const expectFocus = () =>
      eventually(() => page.evaluate(() => document.activeElement.name === 'token'));
    await page.goto(started.origin);
    await expectFocus();
    await open();
    await heading('Keys').waitFor();
    await button('Sign out').click();
    await expectFocus();
  });

  it('says after 15 seconds that a server that hangs does not respond', async () => {
    // Time limits of requests are five times shorter.
    await page.addInitScript(`{
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => timeout(ms / 5);
    }`);
    const { id } = await issue();
    await open(`key/${id}`);
    await button('Refresh').waitFor();
    const busy = () => page.locator('main').getAttribute('aria-busy');
    await eventually(async () => (await busy()) === 'false');
    // One of the two requests of the view gets its response.
    await page.route('**/usage', () => undefined);
    const start = Date.now();
    await button('Refresh').click();
    await eventually(async () => (await busy()) === 'true');
    await page.getByText('The server does not respond. Check that it is running').waitFor();
    expect(Date.now() - start).toBeGreaterThanOrEqual(2_900);
    expect(await busy()).toBe('false');
    await page.unroute('**/usage');
    await button('Refresh').click();
    await page.getByText('does not respond').waitFor({ state: 'detached' });
  });

  it('does not sign out who signed in after leaving a view that was slow', async () => {
    const { id } = await issue({ name: 'Slow' });
    const held: Route[] = [];
    let isHeld = true;
    await page.route(/\/keys(\/|\?order=)/, (route) =>
      isHeld ? void held.push(route) : route.continue(),
    );
    await open(`key/${id}`);
    await eventually(() => Promise.resolve(held.length === 2));
    await button('Sign out').click();
    for (const route of held.splice(0)) await route.continue();
    // The earlier view sends its next request, without a token.
    await eventually(() => Promise.resolve(held.length === 1));
    isHeld = false;
    await page.getByLabel('Admin token').fill(started.admin.key!);
    await page.keyboard.press('Enter');
    await heading('Slow').waitFor();
    const rejected = page.waitForResponse((response) => response.status() === 401);
    await held[0]!.continue();
    await rejected;
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await heading('Audit trail').waitFor();
  });

  describe('a token', () => {
    it('is accepted with characters that nobody sees, its scheme and quotes', async () => {
      await open('keys', `"Bearer ${started.admin.key!}\u200B"`);
      await heading('Keys').waitFor();
    });

    it('that contains a character of no token is explained', async () => {
      await open('keys', 'psa_\u2026');
      await page.getByText('No token contains "\u2026". Copy the whole token again').waitFor();
      expect(await page.getByRole('navigation').isVisible()).toBe(false);
    });

    it('does not look accepted while wrong tokens are limited', async () => {
      const json = { code: 'rate_limit_exceeded', message: 'Retry after 30 seconds.', status: 429 };
      await page.route('**/admin/v1/**', (route) => route.fulfill({ status: 429, json }));
      await open();
      await page.getByText('Retry after 30 seconds.').waitFor();
      expect(await page.getByRole('navigation').isVisible()).toBe(false);
      expect(await heading('Sign in').isVisible()).toBe(true);
    });

    it('is accepted if the browser forbids storage', async () => {
      await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) {
        const get = () => { throw new DOMException('Access is denied', 'SecurityError'); };
        Object.defineProperty(window, name, { get });
      }`);
      await open();
      await heading('Keys').waitFor();
    });
  });

  describe('a fault of the page', () => {
    it('is none in a browser without Map.groupBy', async () => {
      await page.addInitScript('delete Map.groupBy; delete Object.groupBy;');
      await open();
      await heading('Keys').waitFor();
    });

    it('is told if a script has a syntax that the browser does not know', async () => {
      await page.route('**/console.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: 'let new syntax;' }),
      );
      await page.goto(started.origin);
      await page.getByText(/This page does not work: .*SyntaxError.*last three years/).waitFor();
    });

    it('is told if a script fails', async () => {
      await page.addInitScript(
        'Number.prototype.toLocaleString = () => { throw new TypeError("out of order"); };',
      );
      await open();
      await page.getByText('This page does not work: TypeError: out of order.').waitFor();
    });

    it('is told if a script cannot be loaded, and the page reloads itself later', async () => {
      let isRejected = true;
      await page.route('**/console.js', (route) =>
        isRejected
          ? route.fulfill({ status: 429, headers: { 'retry-after': '1' } })
          : route.continue(),
      );
      await page.goto(started.origin);
      await page.getByText('failed to load: retrying in 1 s').waitFor();
      isRejected = false;
      await heading('Sign in').waitFor();
    });

    it('is told if the page of a proxy comes instead of a response', async () => {
      await open();
      await heading('Keys').waitFor();
      await page.route('**/admin/v1/audit?', (route) => route.fulfill({ body: '<html>' }));
      await page.getByRole('link', { name: 'Audit' }).click();
      await page
        .getByText('The response (HTTP 200) is incomplete, or not from this service.')
        .waitFor();
    });

    it('is told if a proxy responds to a change, which may have been made', async () => {
      const { id } = await issue();
      await open(`key/${id}`);
      await page.getByRole('button', { name: 'Disable' }).waitFor();
      const error = { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' };
      await page.route(`**/admin/v1/keys/${id}`, (route) => route.fulfill(error));
      await page.getByRole('button', { name: 'Disable' }).click();
      const told =
        '(HTTP 502) is incomplete, or not from this service. The change may have been made';
      await page.getByText(told).waitFor();
      expect(await page.getByText('null').count()).toBe(0);
    });
  });

  it('closes a dialog that the operator leaves by going back', async () => {
    const { id } = await issue();
    await open();
    await heading('Keys').waitFor();
    await page.goto(`${started.origin}/#key/${id}`);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await page.goBack();
    await heading('Keys').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows a view that failed, and one that did not, when its link is clicked again', async () => {
    const keys = page.getByRole('link', { name: 'Keys', exact: true });
    await open('audit');
    await heading('Audit trail').waitFor();
    await context.setOffline(true);
    await keys.click();
    await heading('This view cannot be shown').waitFor();
    await context.setOffline(false);
    await keys.click();
    await heading('Keys').waitFor();
    const { id } = await issue();
    await keys.click();
    await page.locator(`main a[href="#key/${id}"]`).waitFor();
  });

  it.each([
    ['key/key_nonexistent', []],
    ['keys?status=constructor', ['Keys']],
    ['audit?before=99', ['Audit']],
  ])('does not present %s, which fails, as another view', async (hash, current) => {
    const expectFailure = async () => {
      await heading('This view cannot be shown').waitFor();
      expect(await page.title()).toBe('This view cannot be shown - Pet Store console');
      expect(await page.locator('nav [aria-current=page]').allInnerTexts()).toEqual(current);
    };
    await open(hash);
    await expectFailure();
    await page.reload();
    await expectFailure();
    const [link, title] = hash.startsWith('audit') ? ['Keys', 'Keys'] : ['Audit', 'Audit trail'];
    await page.getByRole('link', { name: link, exact: true }).click();
    await heading(title).waitFor();
    await page.goBack();
    await expectFailure();
  });

  it("judges times by the server's clock", async () => {
    const { id } = await issue({ expiresAt: new Date(Date.now() + DAY_MS).toISOString() });
    await page.clock.install({ time: Date.now() + 2 * DAY_MS });
    await open(`key/${id}`);
    await page.getByText('Requests with this key are accepted.').waitFor();
    expect(await page.locator('main .state').innerText()).toBe('active');
  });

  it('does not call a key banned that the operator has unbanned', async () => {
    const { id } = await issue();
    // The counters have not heard of it yet.
    await page.route('**/usage', async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as object;
      await route.fulfill({ response, json: { ...json, bannedUntil: '2096-10-02T07:06:40.000Z' } });
    });
    await open(`key/${id}`);
    await page.getByText('Requests with this key are accepted.').waitFor();
  });

  describe('a key in the search', () => {
    /** Searches for a text, and expects one key. No part of the key leaves the page. */
    async function find(text: string, { id, key }: { id: string; key: string }): Promise<void> {
      await searchField().fill(text);
      await page.keyboard.press('Enter');
      await eventually(async () => (await found()).join() === 'Leaked');
      expect(await page.locator(`main a[href="#key/${id}"]`).count()).toBe(1);
      expect([...sent, page.url()].join()).not.toContain(key.slice(0, -4));
      expect([...sent, page.url()].join()).not.toContain(key.slice(4, -4));
    }

    it('is looked up by its digest', async () => {
      const leaked = await issue({ name: 'Leaked' });
      await open();
      await heading('Keys').waitFor();
      for (const text of [
        leaked.key,
        `Authorization: Bearer ${leaked.key}`,
        `PETSTORE_API_KEY=${leaked.key}\u200B`,
        leaked.key.slice(4),
      ]) {
        await find(text, leaked);
        await page.waitForURL(/#keys\?digest=[0-9a-f]{64}&pasted=whole$/);
        await page.getByRole('link', { name: 'Keys' }).click();
        await page.waitForURL(/#keys$/);
        // Until the view has changed, what is typed belongs to the old one.
        await page.getByText('SHA-256 digest').waitFor({ state: 'detached' });
      }
      const entries = await page.evaluate(() => history.length);
      for (let entry = 1; entry < entries; entry++) {
        await page.goBack();
        expect(page.url()).not.toContain('psk_');
      }
    });

    it('is looked up by its last four characters where no digest can be computed', async () => {
      await page.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })');
      const leaked = await issue({ name: 'Leaked' });
      await open();
      await heading('Keys').waitFor();
      await find(leaked.key, leaked);
      expect(page.url()).toContain(`search=${leaked.key.slice(-4)}`);
    });

    it('is not sent either if it stands in the address', async () => {
      const leaked = await issue({ name: 'Leaked' });
      await open(`keys?search=${leaked.key}`);
      await eventually(async () => (await found()).join() === 'Leaked');
      expect(sent.join()).not.toContain(leaked.key);
    });
  });

  it('finds a key as it is displayed, a name in any case, and lists the latest key first', async () => {
    const first = await issue({ name: 'Müller' });
    await issue({ name: 'Newest' });
    await open();
    await heading('Keys').waitFor();
    expect((await found()).slice(0, 2)).toEqual(['Newest', 'Müller']);
    for (const text of [`...${first.key.slice(-4)}`, 'MÜLLER']) {
      await searchField().fill(text);
      await page.keyboard.press('Enter');
      await eventually(async () => (await found()).join() === 'Müller');
    }
  });

  describe('on the page of a key', () => {
    const focused = () => page.evaluate(() => document.activeElement.textContent);

    it('keeps the focus after a change', async () => {
      const { id } = await issue({ name: 'Focused' });
      await open(`key/${id}`);
      await button('Disable').click();
      await button('Enable').waitFor();
      expect(await focused()).toBe('Focused');
      await button('Refresh').click();
      await eventually(async () => (await focused()) === 'Refresh');
      await button('Change').click();
      await page.getByLabel('Name', { exact: true }).fill('Renamed');
      await button('Save').click();
      await heading('Renamed').waitFor();
      await eventually(async () => (await focused()) === 'Change');
    });

    it('shows what somebody else has changed, and keeps why an action was rejected', async () => {
      const { id } = await issue();
      await open(`key/${id}`);
      await button('Disable').waitFor();
      await started.admin.post(`/admin/v1/keys/${id}/revoke`, {});
      await button('Disable').click();
      await page.getByText('The key is revoked. This is final').waitFor();
      expect(await button('Disable').count()).toBe(0);
      expect(await page.getByRole('status').innerText()).toBe(`The key ${id} is revoked`);
    });

    it('asks about one key, and expects more than Enter to revoke it', async () => {
      const { id } = await issue();
      const rotated = await started.admin.post(`/admin/v1/keys/${id}/rotate`, {});
      const successor = rotated.json() as { id: string; key: string };
      await open(`key/${successor.id}`);
      for (const action of ['Change', 'Rotate', 'Revoke']) {
        await button(action).click();
        const text = await page.getByRole('dialog').innerText();
        expect(text).toContain(`psk_...${successor.key.slice(-4)}, ${successor.id}`);
        if (action === 'Revoke') expect(await focused()).toBe('Cancel');
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      }
    });

    it('does not lose a new key by Escape or a reload', async () => {
      await open();
      await button('Issue a key').click();
      await page.getByLabel('Name', { exact: true }).fill('Precious');
      await button('Issue').click();
      const secret = page.locator('.secret');
      await secret.waitFor();
      for (let press = 0; press < 3; press++) await page.keyboard.press('Escape');
      expect(await secret.innerText()).toMatch(/^psk_/);
      await page.getByText(/^This dialog must stay open: .* store the key\.$/).waitFor();
      const question = page.waitForEvent('dialog');
      await page.evaluate('void setTimeout(() => location.reload())');
      await (await question).dismiss();
      expect(await secret.innerText()).toMatch(/^psk_/);
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await button('Copy').click();
      await page.getByText('Copied.').waitFor();
      await page.keyboard.press('Escape');
      await secret.waitFor({ state: 'detached' });
      expect(await secret.count()).toBe(0);
      expect(await page.evaluate(() => document.activeElement.tagName)).not.toBe('BODY');
    });

    it('keeps the dialog of a change open until the response', async () => {
      await open();
      await button('Issue a key').click();
      await page.getByLabel('Name', { exact: true }).fill('Slow');
      let issued: Route | undefined;
      await page.route('**/admin/v1/keys', (route) => void (issued = route));
      await button('Issue').click();
      await eventually(() => Promise.resolve(issued !== undefined));
      for (let press = 0; press < 3; press++) await page.keyboard.press('Escape');
      await page.getByText(/^This dialog must stay open: wait for the response/).waitFor();
      expect(await button('Cancel').isDisabled()).toBe(true);
      await page.evaluate("location.hash = 'audit'");
      await page.getByText('Audit trail').first().waitFor();
      expect(await page.getByRole('dialog').innerText()).toContain('Issue a key');
      await issued!.continue();
      await page.locator('.secret').waitFor();
    });

    it('does not lose a new key by the late response to another change', async () => {
      const { id } = await issue();
      await open(`key/${id}`);
      let disabled: Route | undefined;
      await page.route(`**/keys/${id}`, (route) =>
        route.request().method() === 'PATCH' ? void (disabled = route) : route.continue(),
      );
      await button('Disable').click();
      await page.getByRole('link', { name: 'All keys' }).click();
      await button('Issue a key').click();
      await page.getByLabel('Name', { exact: true }).fill('Precious');
      await button('Issue').click();
      await page.locator('.secret').waitFor();
      await disabled!.continue();
      await page.getByText('The key is disabled.').waitFor();
      expect(await page.locator('.secret').innerText()).toMatch(/^psk_/);
    });

    it('does not lose a new key if the token ends', async () => {
      await open();
      await button('Issue a key').click();
      await page.getByLabel('Name', { exact: true }).fill('Precious');
      const json = { code: 'invalid_api_key', message: 'unknown', status: 401 };
      await page.route('**/admin/v1/usage', (route) => route.fulfill({ status: 401, json }));
      await button('Issue').click();
      await page.getByText('The token is not valid.').waitFor();
      expect(await page.locator('.secret').innerText()).toMatch(/^psk_/);
    });

    it('shows and focuses the field of a value that the server rejects', async () => {
      const { id } = await issue();
      await open(`key/${id}`);
      await button('Change').click();
      await page.getByLabel(/^Expires/).fill('2020-01-01T00:00');
      await button('Save').click();
      await page.getByRole('alert').getByText('Expires: expiresAt must be').waitFor();
      const focusedName = () => page.evaluate(() => document.activeElement.name);
      expect(await focusedName()).toBe('expiresAt');
      await page.getByLabel(/^Expires/).fill('');
      for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
      await button('Save').click();
      await page.getByRole('alert').getByText('Scopes: scopes must be').waitFor();
      expect(await focusedName()).toBe('scopes');
    });

    it.each([
      ['0', 'The old key has ended.'],
      ['1', 'The old key stays valid for the grace period.'],
    ])('says what becomes of the old key of a rotation after %s hours', async (hours, told) => {
      const { id } = await issue();
      await open(`key/${id}`);
      await button('Rotate').click();
      await page.getByLabel('Hours that the old key stays valid').fill(hours);
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      await page.locator('.secret').waitFor();
      expect(await page.getByRole('dialog').innerText()).toContain(`is shown once. ${told}`);
    });

    it('explains an expiry in the year 12026', async () => {
      await open();
      await button('Issue a key').click();
      await page.getByLabel('Name', { exact: true }).fill('Eternal');
      const expiry = page.getByLabel(/^Expires \(Europe\/Berlin/);
      await expiry.evaluate((field: { value: string }) => (field.value = '12026-01-01T00:00'));
      await button('Issue').click();
      const fault = await expiry.evaluate(
        (field: { validationMessage: string }) => field.validationMessage,
      );
      expect(fault).not.toBe('');
      expect(await page.getByRole('alert').innerText()).toBe('');
    });
  });

  it('names the zone of each time', async () => {
    const { id } = await issue();
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
    await started.admin.post(`/admin/v1/keys/${id}`, { expiresAt }, {}, 'PATCH');
    await open(`audit?key=${id}`);
    const row = page.getByRole('row', { name: /key\.set_expiry/ });
    expect((await row.innerText()).match(/\d\d:\d\d:\d\d CES?T/g)).toHaveLength(2);
  });
});
