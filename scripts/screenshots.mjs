// `npm run screenshots [-- FOLDER]`: screenshots of /docs and of each view of the console, light and
// dark, at the widths of a desktop and of a phone. `PORT=3000` makes `page-*.png` and `console-*.png`
// as they are in docs/.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
const folder = resolve(process.argv[2] ?? 'screenshots');
const directory = mkdtempSync(join(tmpdir(), 'petstore-screenshots-'));
mkdirSync(folder, { recursive: true });

const free = createServer().listen(0, '127.0.0.1');
await once(free, 'listening');
const adminPort = String(free.address().port);
free.close();
const env = {
  PATH: process.env.PATH,
  PORT: process.env.PORT ?? '0',
  ADMIN_PORT: adminPort,
  METRICS_PORT: '0',
  LOG_LEVEL: 'error',
};
const server = spawn(process.execPath, [MAIN, 'serve', '--json'], {
  cwd: directory,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(server.stdout, 'data');
const { origin: address, key } = JSON.parse(line);
const origin = address.replace('127.0.0.1', 'localhost');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu'],
});

/** The time after which the usage of a key is in the database. */
const USAGE_MS = 11_000;
const issued = execFileSync(process.execPath, [MAIN, 'admin', 'issue', '--name', 'ann', '--json'], {
  cwd: directory,
  env,
});
const { token } = JSON.parse(issued);
const consoleOrigin = `http://127.0.0.1:${adminPort}`;

async function administer(path, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(`${consoleOrigin}/admin/v1/keys${path}`, options)).json();
}

/** Issues keys, one of them to a caller that sends too many requests. */
async function prepareKeys() {
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const zoo = await administer('', { name: 'City zoo', plan: 'free' });
  await administer('', { name: 'Aquarium', plan: 'pro', expiresAt: soon });
  const old = await administer('', { name: 'Old laptop', plan: 'free', scopes: ['pets:read'] });
  await administer(`/${old.id}/revoke`, {});
  const limits = { perMinute: 5_000, perDay: 1_000_000 };
  await administer('', { name: 'Partner', plan: 'enterprise', ...limits });
  const reseller = { name: 'Reseller', plan: 'enterprise', perMinute: 1_000, perDay: 60 };
  const { key: fullKey } = await administer('', { ...reseller, allowedFrom: ['127.0.0.0/8'] });
  for (const [used, requests] of [
    [fullKey, 55],
    [zoo.key, 70],
  ]) {
    for (let count = 0; count < requests; count++) {
      await fetch(`${address}/v1/pets`, { headers: { authorization: `Bearer ${used}` } });
    }
  }
  await new Promise((resolve) => setTimeout(resolve, USAGE_MS));
  return zoo.id;
}

/** Screenshots of the views of the console. */
async function shootConsole(page, id, shoot, colorScheme) {
  await page.goto(consoleOrigin);
  await shoot('console-sign-in');
  await page.getByLabel('Admin token').fill(token);
  await page.keyboard.press('Enter');
  const views = { keys: 'keys', near: 'near', key: `key/${id}`, audit: 'audit' };
  for (const [name, hash] of Object.entries(views)) {
    await page.goto(`${consoleOrigin}/#${hash}`);
    await page.locator('nav a[aria-current], main h1').first().waitFor();
    await page.locator('main table').first().waitFor();
    await shoot(`console-${name}`);
    if (page.viewportSize().width === 1280) {
      const clip = { x: 0, y: 0, width: 1280, height: 800 };
      const file = colorScheme === 'light' ? `console-${name}.png` : `console-${name}-dark.png`;
      await page.screenshot({ path: join(folder, file), clip });
    }
  }
  await page.goto(`${consoleOrigin}/#keys`);
  await page.getByRole('button', { name: 'Issue a key' }).click();
  await shoot('console-issue');
}

async function operate(page, id, index) {
  const block = page.locator('.opblock').nth(index);
  await block.locator('.opblock-summary-control').click();
  if (id !== undefined) await block.locator('input[placeholder="petId"]').fill(id);
  await block.locator('button.execute').click();
  await block.locator('.live-responses-table').waitFor();
}

try {
  const zooId = await prepareKeys();
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      const shoot = async (name) => {
        // A sticky header would cover the middle of the page.
        await page.evaluate('scrollTo(0, 0)');
        await page.screenshot({
          path: join(folder, `${name}-${colorScheme}-${width}.png`),
          fullPage: true,
        });
      };
      await page.goto(`${origin}/docs`);
      await page.locator('.opblock').first().waitFor();
      await shoot('reference');
      if (width === 1280) {
        const clip = { x: 0, y: 0, width, height: 800 };
        await page.screenshot({ path: join(folder, `page-${colorScheme}.png`), clip });
      }
      await page.getByRole('searchbox').fill('idempotency');
      await page.locator('.results a').first().waitFor();
      await shoot('search');
      await page.keyboard.press('Escape');
      await page.locator('.about > summary').click();
      await shoot('about');
      await page.locator('.about > summary').click();
      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.locator('.auth-container input').first().fill(key);
      await shoot('authorize');
      await page.locator('.auth-btn-wrapper button.authorize').click();
      await page.locator('.auth-btn-wrapper button.btn-done').click();
      await operate(page, undefined, 0);
      await shoot('list');
      await page.locator('.opblock-summary-control').first().click();
      await operate(page, undefined, 1);
      await shoot('create');
      await page.locator('.opblock-summary-control').nth(1).click();
      await operate(page, '4711', 2);
      await shoot('get');
      await page.goto(`${origin}/docs/guides/clients`);
      await shoot('guide');
      await shootConsole(page, zooId, shoot, colorScheme);
      await page.close();
    }
  }
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
}
