import { readFileSync } from 'node:fs';
import { transformSync } from '@swc/core';

/** The TypeScript snippets of a page of the documentation, by the heading above them. */
export function snippetsOf(page: string): Map<string, string> {
  const sections = readFileSync(page, 'utf8').split(/^## /m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const [, code] = /^```ts\n(.*?)^```/ms.exec(section) ?? [];
      return code === undefined ? [] : [[section.slice(0, section.indexOf('\n')), code] as const];
    }),
  );
}

/**
 * Runs a snippet.
 * @param load the `require` of a test, so that the snippet shares the modules of the test
 * @returns its exports
 */
export function runSnippet(code: string, load: (name: string) => unknown): Record<string, unknown> {
  const compiled = transformSync(code, {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
    swcrc: false,
  });
  const exported: Record<string, unknown> = {};
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code of our own documentation
  new Function('require', 'exports', compiled.code)(load, exported);
  return exported;
}
