// Writes src/schema.ts: the types of openapi.json, and the names of its bigint members and times. --check only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const DOCUMENT = new URL('../../openapi.json', import.meta.url);
const TYPES = new URL('src/schema.ts', import.meta.url);
const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const DATE = ts.factory.createTypeReferenceNode('Date');
const literal = (text) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(text));

/** The generator's own choice for int64 is number, which rounds; for an extensible enum it is string. */
function transform(schema) {
  const values = schema['x-extensible-enum'];
  if (values !== undefined) return ts.factory.createUnionTypeNode(values.map(literal));
  if (isTime(schema)) return DATE;
  return isBigint(schema) ? BIGINT : undefined;
}

const isTime = ({ format }) => format === 'date-time';

/** Whether a Number would round the integer. Limits are int64 too, with a safe maximum. */
function isBigint({ format, maximum = Infinity }) {
  return format === 'int64' && maximum > Number.MAX_SAFE_INTEGER;
}

export async function generate() {
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  const { schemas } = document.components;
  const types = await openapiTS({ ...document, paths: {}, components: { schemas } }, { transform });
  /** The names of the members that are, or may be, what `is` accepts. */
  const membersOf = (is) => {
    const names = Object.values(schemas).flatMap(({ properties = {} }) =>
      Object.keys(properties).filter((name) =>
        [properties[name]].flatMap((each) => each.oneOf ?? each).some(is),
      ),
    );
    return JSON.stringify([...new Set(names)].sort());
  };
  return `// Generated from openapi.json by generate.mjs.

/** The members of type int64, which are bigint. */
export const INT64_MEMBERS: readonly string[] = ${membersOf(isBigint)};

/** The members that are times, as Date. */
export const TIME_MEMBERS: readonly string[] = ${membersOf(isTime)};

${astToString(types)}`;
}

/** Writes the file only if it changes, so that a build leaves no new modification time. */
export async function write() {
  const text = await generate();
  if (readFileSync(TYPES, { encoding: 'utf8', flag: 'a+' }) !== text) writeFileSync(TYPES, text);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  if (!process.argv.includes('--check')) await write();
  else if (readFileSync(TYPES, 'utf8') !== (await generate())) {
    console.error('clients/typescript/src/schema.ts is outdated; run npm run openapi');
    process.exit(1);
  }
}
