import { tsImport } from 'tsx/esm/api';

/** Creates the template databases once for all test files. */
export default async function setUp() {
  // Jest runs on another release of Node than better-sqlite3 was built for: `.ci/unit-on-node`.
  if (process.env.BETTER_SQLITE3) return;
  const { createTemplates } = await tsImport('./templates.ts', import.meta.url);
  globalThis.removeTemplates = await createTemplates(process.env.SUITE === 'engines');
}
