import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { unlike } from '../http/request-context.js';

const SCHEMAS = '#/components/schemas/';
type Schemas = Record<string, unknown>;

/**
 * Adds what a guest documents to `document`. The generator knows a schema by the name of its class alone: where
 * that stands for another one already, the guest's gets a number, so that neither is taken for the other.
 */
export function addDocument(document: OpenAPIObject, guest: OpenAPIObject): void {
  const schemas = schemasOf(document);
  const { paths, schemas: added } = renamed(guest, schemas);
  for (const [name, schema] of Object.entries(added)) schemas[name] ??= schema;
  for (const [path, item] of Object.entries(paths)) {
    document.paths[path] = { ...document.paths[path], ...item };
    for (const name of tagsOf(item)) {
      document.tags ??= [];
      if (!document.tags.some((tag) => tag.name === name)) document.tags.push({ name });
    }
  }
}

function tagsOf(item: object): string[] {
  return (Object.values(item) as { tags?: string[] }[]).flatMap(({ tags = [] }) => tags);
}

function renamed(
  { paths, ...guest }: OpenAPIObject,
  taken: Schemas,
): { paths: OpenAPIObject['paths']; schemas: Schemas } {
  const schemas = JSON.parse(JSON.stringify(schemasOf(guest))) as Schemas;
  const others = namesOfOthers(schemas, taken);
  const known = new Set([...Object.keys(taken), ...Object.keys(schemas)]);
  const names = new Map<string, string>();
  for (const name of others) {
    const free = unlike(known, name);
    known.add(free);
    names.set(name, free);
  }
  const said = Object.entries(schemas).map(([name, schema]) => [names.get(name) ?? name, schema]);
  const text = JSON.stringify({ paths, schemas: Object.fromEntries(said) as Schemas });
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(SCHEMAS)
      ? SCHEMAS + (names.get(value.slice(SCHEMAS.length)) ?? value.slice(SCHEMAS.length))
      : value,
  ) as { paths: OpenAPIObject['paths']; schemas: Schemas };
}

/** Those that are not what is taken; and what reads the same, but speaks of one of those. */
function namesOfOthers(schemas: Schemas, taken: Schemas): Set<string> {
  const shared = Object.keys(schemas).filter((name) => name in taken);
  const others = new Set<string>();
  const differs = (name: string): boolean => {
    const text = JSON.stringify(schemas[name]);
    return (
      !isDeepStrictEqual(schemas[name], JSON.parse(JSON.stringify(taken[name]))) ||
      [...others].some((other) => text.includes(JSON.stringify(SCHEMAS + other)))
    );
  };
  for (let size = -1; size < others.size;) {
    size = others.size;
    for (const name of shared) if (differs(name)) others.add(name);
  }
  return others;
}

function schemasOf(document: Pick<OpenAPIObject, 'components'>): Schemas {
  return ((document.components ??= {}).schemas ??= {});
}
