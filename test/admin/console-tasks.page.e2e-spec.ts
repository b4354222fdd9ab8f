import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { mintKey } from '../../src/core/keys/api-key-format.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { type AdminService, issueAdminToken, startAdminService } from '../support/admin.js';
import { launchChromium } from '../support/chromium.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { tabTo } from '../support/keyboard.js';

/** Runs in the page, not here. */
declare const document: { activeElement: { tagName: string; textContent: string } };

const KEYS = '/admin/v1/keys';
const SEARCH = 'Name, ID or last 4 characters';

describeWith('chromium', 'an operator with a keyboard alone', (executablePath) => {
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
    context = await browser!.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin' });
    page = await context.newPage();
    sent = [];
    page.on('request', (each) => {
      sent.push(`${each.method()} ${each.url()} ${each.postData() ?? ''}`);
    });
  });
  afterEach(() => context.close());

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const issue = async (terms: object) =>
    (await started.admin.post(KEYS, { name: 'Zoo', plan: 'free', ...terms })).json();

  async function follow(name: string | RegExp, role: 'link' | 'button' = 'link'): Promise<void> {
    await tabTo(page, name, role);
    await page.keyboard.press('Enter');
  }

  async function enter(label: string, role: 'textbox' | 'searchbox', text: string): Promise<void> {
    await tabTo(page, label, role);
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
    await page.keyboard.press('Enter');
  }

  async function signIn(token = started.admin.key!): Promise<void> {
    await page.goto(started.origin);
    await enter('Admin token', 'textbox', token);
    await heading('Keys').waitFor();
  }

  it('finds a leaked key by its value, which stands in no URL, and revokes it', async () => {
    const { key } = await issue({ name: 'Leaked' });
    await signIn();
    await enter(SEARCH, 'searchbox', key);
    await page.waitForURL(/#keys\?digest=[0-9a-f]{64}&pasted=whole$/);
    await follow('Leaked');
    await heading('Leaked').waitFor();
    await follow('Revoke', 'button');
    await page.getByRole('heading', { name: 'Revoke the key of Leaked?' }).waitFor();
    await tabTo(page, 'Revoke', 'button', page.getByRole('dialog'));
    await page.keyboard.press('Enter');
    await page.getByText('The key is revoked. This is final').waitFor();
    const headers = { authorization: `Bearer ${key}` };
    await eventually(
      async () => (await started.service.anonymous().get('/v1/pets', headers)).status === 401,
    );
    const seen = [...sent, page.url()].join();
    for (const part of [key.slice(0, -4), key.slice(4, -4)]) expect(seen).not.toContain(part);
  });

  it('is told whether a key that is not found was mistyped or never issued', async () => {
    await issue({});
    await signIn();
    const foreign = mintKey();
    const swapped = foreign.replace(/(.)(.)(.{6})$/, (_all, one, other, checksum) =>
      one === other ? `x${other}${checksum}` : `${other}${one}${checksum}`,
    );
    for (const [pasted, told] of [
      [foreign, 'its checksum is right, but this service did not issue it.'],
      [swapped, 'The key is mistyped or incomplete'],
      [foreign.slice(0, -1), 'The key is mistyped or incomplete'],
      [`Bearer ${foreign}`, 'its checksum is right, but this service did not issue it.'],
      [foreign.slice(4), 'its checksum is right, but this service did not issue it.'],
      [started.admin.key!, 'This is an admin token, not a key.'],
    ] as const) {
      await enter(SEARCH, 'searchbox', pasted);
      await page.getByText(told).waitFor();
      expect(await page.getByRole('region', { name: 'Keys', exact: true }).count()).toBe(0);
      await follow('Keys');
      await page.getByText(told).waitFor({ state: 'detached' });
    }
  });

  it('finds a pasted key although another filter would hide it', async () => {
    const { key } = await issue({ name: 'Leaked' });
    await signIn();
    await page.goto(`${started.origin}/#keys?status=banned`);
    await page.getByText('No keys').waitFor();
    await enter(SEARCH, 'searchbox', key);
    await page.getByRole('link', { name: 'Leaked' }).waitFor();
  });

  it('is told the same where the browser computes no digest', async () => {
    await page.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })');
    await signIn();
    await enter(SEARCH, 'searchbox', mintKey());
    await page.getByText('this service did not issue it.').waitFor();
    const { key } = await issue({ name: 'Leaked' });
    await enter(SEARCH, 'searchbox', key);
    await page.getByRole('link', { name: 'Leaked' }).waitFor();
    expect(await page.getByText('did not issue it').count()).toBe(0);
  });

  it('sees who is near a limit, and what is left', async () => {
    const limits = { plan: 'enterprise', perMinute: 1_000, perDay: 10 };
    const calm = await started.service.client({ ...limits, name: 'Calm' });
    const busy = await started.service.client({ ...limits, name: 'Busy' });
    const full = await started.service.client({ ...limits, name: 'Full' });
    for (let count = 0; count < 8; count++) await calm.get('/v1/pets');
    for (let count = 0; count < 9; count++) await busy.get('/v1/pets');
    for (let count = 0; count < 10; count++) await full.get('/v1/pets');
    await eventually(
      async () => (await started.admin.get('/admin/v1/usage')).json().nearLimit.length === 2,
    );
    await signIn();
    await follow(/^2 ?above 80 % of a limit$/);
    await heading('Keys near a limit').waitFor();
    const rows = await page.locator('main tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split('\t'))).toEqual([
      ['Full', 'enterprise', 'per day', '100', '10', '10'],
      ['Busy', 'enterprise', 'per day', '90', '9', '10'],
    ]);
    await follow('Busy');
    await heading('Busy').waitFor();
    await page.getByText('1 of 10 left today').waitFor();
  });

  it('reads everything as a viewer, and can press nothing that changes', async () => {
    const { id } = await issue({ name: 'Read only', allowedFrom: ['203.0.113.0/24'] });
    await signIn(await issueAdminToken(started.service, 'vic', { role: 'viewer' }));
    await page.getByText('it may only read').waitFor();
    await enter(SEARCH, 'searchbox', 'Read only');
    await follow('Read only');
    await heading('Read only').waitFor();
    await page.getByText('it may only read').waitFor();
    await page.getByRole('cell', { name: '203.0.113.0/24' }).waitFor();
    const reached = new Set<string>();
    for (let count = 0; count < 40; count++) {
      await page.keyboard.press('Tab');
      const [tag, text] = await page.evaluate(() => [
        document.activeElement.tagName,
        document.activeElement.textContent,
      ]);
      if (tag === 'BUTTON') reached.add(text);
    }
    expect([...reached].sort()).toEqual(['Refresh', 'Sign out']);
    await follow('Changes of this key');
    await heading('Audit trail').waitFor();
    await page.getByRole('row', { name: /key\.issue/ }).waitFor();
    expect(page.url()).toContain(id);
    expect(sent.filter((each) => !each.startsWith('GET '))).toEqual([]);
  });

  it('filters the audit trail by action, actor and key with its predecessors', async () => {
    const { id } = await issue({ name: 'Chain' });
    const { id: successor } = (await started.admin.post(`${KEYS}/${id}/rotate`, {})).json();
    await started.admin.post(`${KEYS}/${successor}`, { disabled: true }, {}, 'PATCH');
    await signIn();
    await follow('Audit');
    await heading('Audit trail').waitFor();
    const actions = () => page.locator('main tbody td:nth-child(2)').allInnerTexts();
    await enter('Key ID', 'textbox', successor);
    await eventually(async () => (await actions()).join() === 'key.disable,key.rotate,key.issue');
    await page.getByText('and of the keys that it succeeded').waitFor();
    await tabTo(page, 'Action', 'combobox');
    await page.keyboard.type('key.rotate');
    await follow('Find', 'button');
    await eventually(async () => (await actions()).join() === 'key.rotate');
    await enter('By', 'textbox', 'admin:nobody');
    await page.getByText('No changes found.').waitFor();
    expect(new URL(page.url()).hash).toBe(
      `#audit?key=${successor}&action=key.rotate&actor=admin%3Anobody`,
    );
    await enter('By', 'textbox', 'admin:ann');
    await eventually(async () => (await actions()).join() === 'key.rotate');
    const { key } = await issue({});
    for (const label of ['By', 'Key ID']) {
      await enter(label, 'textbox', key);
      await page.keyboard.press('Escape');
    }
    expect([...sent, page.url()].join()).not.toContain(key);
  });

  it('downloads the records that are shown as CSV, with no text that is a formula', async () => {
    const keys = started.service.store.app.get(KeysService);
    const actor = { type: 'admin', name: '=HYPERLINK("http://example.com")' } as const;
    const by = { actor, address: '192.0.2.1', requestId: null };
    const { record } = await keys.issue({ name: 'Zoo, "old"', plan: 'free' }, by);
    const { key } = await issue({ name: 'Later' });
    await signIn();
    await page.goto(`${started.origin}/#audit?key=${record.id}`);
    await page.getByRole('row', { name: /key\.issue/ }).waitFor();
    const downloaded = page.waitForEvent('download');
    await follow('Download CSV', 'button');
    const download = await downloaded;
    expect(download.suggestedFilename()).toBe('audit.csv');
    const text = readFileSync(await download.path(), 'utf8');
    const [audited] = (await started.admin.get(`/admin/v1/audit?key=${record.id}`)).json();
    const lines = text.split('\r\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe('\uFEFF"Time","Action","By","Target","Change","Address"');
    expect(lines[1]).toMatch(/,"name: Zoo, ""old"", plan: free, .*","192\.0\.2\.1"$/);
    const formula = `"'=HYPERLINK(""http://example.com"")"`;
    expect(lines[1]).toContain(`"${audited.at}","key.issue",${formula},"${record.id}",`);
    expect(text).not.toContain(key);
  });

  it('downloads each time of a change in UTC', async () => {
    const { id } = await issue({});
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    await started.admin.post(`${KEYS}/${id}`, { expiresAt }, {}, 'PATCH');
    const disabled = await started.admin.post(`${KEYS}/${id}`, { disabled: true }, {}, 'PATCH');
    const { disabledAt } = disabled.json() as { disabledAt: string };
    const revoked = await started.admin.post(`${KEYS}/${id}/revoke`, {});
    const { revokedAt } = revoked.json() as { revokedAt: string };
    await signIn();
    await page.goto(`${started.origin}/#audit?key=${id}`);
    await page.getByRole('row', { name: /key\.revoke/ }).waitFor();
    const downloaded = page.waitForEvent('download');
    await follow('Download CSV', 'button');
    const text = readFileSync(await (await downloaded).path(), 'utf8');
    const times = Object.entries({ expiresAt, disabledAt, revokedAt });
    for (const [name, time] of times) expect(text).toContain(`"${name}: none → ${time}"`);
    expect(text).not.toMatch(/\bCES?T\b/);
  });
});
