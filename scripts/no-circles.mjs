import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Relative imports of a file, including types. */
const IMPORT = /^(?:import|export)\b[^;]*?\bfrom '(\.[^']+)\.js';$/gm;

/**
 * An ESLint rule: forbids circular imports between the files below `folder`.
 * @param folder absolute path
 */
export function noCircles(folder) {
  const imports = new Map(
    readdirSync(folder, { recursive: true })
      .map((path) => join(folder, path))
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .map((path) => [path, importsOf(path)]),
  );
  return {
    meta: { type: 'problem', schema: [] },
    create: (context) => ({
      Program(node) {
        const circle = wayBack(context.filename, imports);
        if (circle === undefined) return;
        const names = circle.map((path) => relative(folder, path)).join(' → ');
        context.report({ node, message: `Files import each other in a circle: ${names}` });
      },
    }),
  };
}

function importsOf(path) {
  const matches = readFileSync(path, 'utf8').matchAll(IMPORT);
  return Array.from(matches, ([, from]) => `${join(dirname(path), from)}.ts`);
}

/** The shortest circle of imports from a file to itself. */
function wayBack(start, imports) {
  const from = new Map([[start, undefined]]);
  for (const path of from.keys()) {
    for (const next of imports.get(path) ?? []) {
      if (next === start) return [...wayTo(path, from), start];
      if (!from.has(next)) from.set(next, path);
    }
  }
  return undefined;
}

function wayTo(path, from) {
  const way = [];
  for (let each = path; each !== undefined; each = from.get(each)) way.unshift(each);
  return way;
}
