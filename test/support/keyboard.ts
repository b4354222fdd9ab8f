import type { Locator, Page } from 'playwright-core';

/** Runs in the page, not here. */
declare const document: { activeElement: unknown };

type Role = 'button' | 'link' | 'textbox' | 'combobox' | 'searchbox' | 'spinbutton';

/** Presses Tab until an element with this text or label has the focus. */
export async function tabTo(
  page: Page,
  name: string | RegExp,
  role: Role,
  within: Page | Locator = page,
): Promise<void> {
  const wanted = within.getByRole(role, { name, exact: true }).first();
  await wanted.waitFor();
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press('Tab');
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`No ${role} "${String(name)}" can be reached by keyboard`);
}
