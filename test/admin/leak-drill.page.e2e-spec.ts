import type { Browser, Page } from 'playwright-core';
import { type AdminService, startAdminService } from '../support/admin.js';
import { saveLastUses, saveUsage } from '../support/background.js';
import { launchChromium } from '../support/chromium.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { tabTo } from '../support/keyboard.js';

const CLIENT = { 'x-forwarded-for': '203.0.113.7' };
const THIEF = { 'x-forwarded-for': '198.51.100.66' };

describeWith('chromium', 'the drill for a leaked key in the console', (executablePath) => {
  const clock = new FakeClock(Date.now());
  let started: AdminService;
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    started = await startAdminService({ clock, env: { TRUST_PROXY: '127.0.0.1' } });
    browser = await launchChromium(executablePath);
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(started.origin);
  });
  afterAll(async () => {
    await browser?.close();
    await started?.service.close();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  /** Presses Tab until an element with this text or label has the focus. */
  async function press(name: string, role: 'button' | 'link' = 'button'): Promise<void> {
    await tabTo(page, name, role);
    await page.keyboard.press('Enter');
  }

  async function type(text: string, name: string, role: Parameters<typeof tabTo>[2]) {
    await tabTo(page, name, role);
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  }

  it('finds the key, stops the thief, shows its address, and gives the client another key', async () => {
    const { service, origin, admin } = started;
    const leaked = await service.client({ name: 'City zoo', scopes: ['pets:read', 'key:rotate'] });
    await service.client({ name: 'Other' });
    const statusOf = async (client: Client, from = THIEF) =>
      (await client.get('/v1/pets', from)).status;
    await leaked.get('/v1/pets', CLIENT);
    // A use is recorded at most once a second.
    clock.advance(2_000);
    const made = (await leaked.post('/v1/key/rotate', {}, THIEF)).json();
    const thief = new Client(service.origin, made.key);
    await leaked.get('/v1/pets', THIEF);
    await saveLastUses(service);

    await type(admin.key!, 'Admin token', 'textbox');
    await heading('Keys').waitFor();
    await type(leaked.key!, 'Name, ID or last 4 characters', 'searchbox');
    await page.getByText('The key with the SHA-256 digest').waitFor();
    const found = page.getByRole('region', { name: 'Keys', exact: true }).getByRole('row');
    expect(await found.count()).toBe(2);
    await press('City zoo', 'link');
    await heading('City zoo').waitFor();
    await page.getByText(leaked.keyId!).first().waitFor();

    await press('Disable');
    await page.getByText('The key is disabled.', { exact: true }).waitFor();
    await eventually(async () => (await statusOf(leaked)) === 401);
    await saveUsage(service);
    await press('Refresh');
    await page.getByRole('row', { name: /invalid_api_key .*198\.51\.100\.66/ }).waitFor();
    await page.getByText(/ from 198\.51\.100\.66/).waitFor();

    await press('Changes of this key', 'link');
    await page
      .getByRole('row', { name: /key\.rotate/ })
      .first()
      .waitFor();
    const rotation = page.getByRole('row', { name: /key\.rotate/ }).first();
    expect(await rotation.textContent()).toContain(`key ${leaked.keyId}`);
    await press(leaked.keyId!, 'link');
    await heading('City zoo').waitFor();

    await press('Enable');
    await page.getByText('The key is enabled.', { exact: true }).waitFor();
    await press('Rotate');
    await type('0', 'Hours that the old key stays valid', 'spinbutton');
    const secret = page.locator('dialog .secret');
    await secret.waitFor();
    const next = new Client(service.origin, (await secret.textContent())!);
    expect(await statusOf(next, CLIENT)).toBe(200);
    // The successor that the thief has made is withdrawn.
    for (const client of [leaked, thief]) {
      await eventually(async () => (await statusOf(client)) === 401);
    }
    expect(page.url()).not.toContain(leaked.key!);
    expect(page.url().startsWith(origin)).toBe(true);
    for (const client of [next, thief]) client.close();
  });
});
