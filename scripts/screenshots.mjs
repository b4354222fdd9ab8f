// `npm run screenshots [-- FOLDER]`: screenshots of /docs, light and dark, at the widths of a
// desktop and of a phone. `PORT=3000` makes `page-light.png` and `page-dark.png` as they are in
// docs/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
const folder = resolve(process.argv[2] ?? 'screenshots');
const directory = mkdtempSync(join(tmpdir(), 'petstore-screenshots-'));
mkdirSync(folder, { recursive: true });

const server = spawn(process.execPath, [MAIN, 'serve', '--json'], {
  cwd: directory,
  env: {
    PATH: process.env.PATH,
    PORT: process.env.PORT ?? '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'error',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(server.stdout, 'data');
const { origin: address, key } = JSON.parse(line);
const origin = address.replace('127.0.0.1', 'localhost');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu'],
});

async function operate(page, id, index) {
  const block = page.locator('.opblock').nth(index);
  await block.locator('.opblock-summary-control').click();
  if (id !== undefined) await block.locator('input[placeholder="petId"]').fill(id);
  await block.locator('button.execute').click();
  await block.locator('.live-responses-table').waitFor();
}

try {
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
      await page.close();
    }
  }
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
}
