// Generates clients/petstore.http and a Postman collection from openapi.json. With --check it only
// compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';

const JSON_TYPE = 'application/json';
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const file = (path) => new URL(`../${path}`, import.meta.url);
const document = JSON.parse(readFileSync(file('openapi.json'), 'utf8'));
const { info, servers, tags, components } = document;

/** The target of a reference, merged with the members beside it. */
function resolve({ $ref, ...beside }) {
  if ($ref === undefined) return beside;
  const [, , kind, name] = $ref.split('/');
  return { ...resolve(components[kind][name]), ...beside };
}

function exampleOf(schema) {
  const { example, type, properties, items } = resolve(schema);
  if (example !== undefined) return example;
  if (type === 'array') return [exampleOf(items)];
  const members = Object.entries(properties ?? {}).map(([name, each]) => [name, exampleOf(each)]);
  return Object.fromEntries(members);
}

/** A value for a parameter; undefined if it should be left out. */
function valueOf({ example, schema }) {
  const { example: typical, default: usual, enum: values } = resolve(schema);
  return example ?? typical ?? usual ?? values?.[0];
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const { parameters = [], requestBody } = operation;
    const media = requestBody?.content[JSON_TYPE];
    const ofPlace = (place) =>
      parameters
        .filter((parameter) => parameter.in === place)
        .map((parameter) => ({ ...parameter, value: valueOf(parameter) }));
    return {
      ...operation,
      path,
      method: method.toUpperCase(),
      inPath: ofPlace('path'),
      inQuery: ofPlace('query'),
      inHeaders: ofPlace('header'),
      body: media && JSON.stringify(media.example ?? exampleOf(media.schema), null, 2),
    };
  }),
);

const queryOf = (parameters) => {
  const query = parameters.filter(({ value }) => value !== undefined);
  return query.map(({ name, value }, index) => `${index ? '&' : '?'}${name}=${value}`).join('');
};

function toHttp(operation) {
  const { operationId, summary, description = '', method, path, body } = operation;
  const { inPath, inQuery, inHeaders } = operation;
  const target = inPath.reduce((all, { name, value }) => all.replace(`{${name}}`, value), path);
  const optional = [...inQuery, ...inHeaders].filter(({ value }) => value === undefined);
  return [
    `### ${summary}`,
    `# @name ${operationId}`,
    ...(description && [`# ${description}`]),
    ...optional.map((each) => `# Optional, ${each.name} (${each.in}): ${each.description}`),
    `${method} {{baseUrl}}${target}${queryOf(inQuery)}`,
    'Authorization: Bearer {{apiKey}}',
    ...inHeaders.flatMap(({ name, value }) => (value === undefined ? [] : [`${name}: ${value}`])),
    ...(body === undefined ? [] : [`Content-Type: ${JSON_TYPE}`, '', body]),
    '',
  ].join('\n');
}

const httpFile = `# ${info.title} ${info.version}: every operation as a request. Generated from openapi.json by \`npm run openapi\`.
# For REST Client (VS Code), JetBrains' HTTP client, Visual Studio and httpYac. Set @apiKey: a new local service prints a key at its first start.

@baseUrl = ${servers[0].url}
@apiKey = psk_...

${operations.map(toHttp).join('\n')}`;

/** Example responses. */
function toExamples([status, { description, content = {} }]) {
  const { schema, example, examples } = content[JSON_TYPE] ?? {};
  if (schema === undefined) return [];
  const bodies = examples ?? { [description]: { value: example ?? exampleOf(schema) } };
  return Object.entries(bodies).map(([name, { value }]) => {
    const code = status === 'default' ? value.status : Number(status);
    return {
      name: code < 400 ? description : name,
      code,
      status: STATUS_CODES[code],
      _postman_previewlanguage: 'json',
      header: [{ key: 'Content-Type', value: JSON_TYPE }],
      body: JSON.stringify(value, null, 2),
    };
  });
}

function toPostman(operation) {
  const { summary, description, method, path, body, inPath, inQuery, inHeaders } = operation;
  const toPair = ({ name, value = '', description: text }) => ({
    key: name,
    value: String(value),
    ...(value === '' && { disabled: true }),
    description: text,
  });
  // Postman replaces this with a new UUID in each request.
  const fresh = ({ name, ...rest }) => ({
    name,
    ...rest,
    ...(name === 'Idempotency-Key' && { value: '{{$guid}}' }),
  });
  const target = path.replace(/\{(\w+)\}/g, ':$1');
  return {
    name: summary,
    request: {
      method,
      ...(description && { description }),
      header: [
        ...inHeaders.map(fresh).map(toPair),
        ...(body === undefined ? [] : [{ key: 'Content-Type', value: JSON_TYPE }]),
      ],
      url: {
        raw: `{{baseUrl}}${target}${queryOf(inQuery)}`,
        host: ['{{baseUrl}}'],
        path: target.slice(1).split('/'),
        query: inQuery.map(toPair),
        variable: inPath.map(toPair),
      },
      ...(body && { body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } } }),
    },
    response: Object.entries(operation.responses).flatMap(toExamples),
  };
}

const collection = {
  info: { name: info.title, description: info.description, schema: SCHEMA },
  auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
  variable: [
    { key: 'baseUrl', value: servers[0].url },
    {
      key: 'apiKey',
      value: '',
      description: 'psk_...; a new local service prints one at its first start',
    },
  ],
  item: tags.map(({ name, description }) => ({
    name,
    description,
    item: operations.filter((operation) => operation.tags.includes(name)).map(toPostman),
  })),
};

const WRITTEN = {
  'clients/petstore.http': httpFile,
  'clients/petstore.postman_collection.json': `${JSON.stringify(collection, null, 2)}\n`,
};
for (const [path, text] of Object.entries(WRITTEN)) {
  if (!process.argv.includes('--check')) writeFileSync(file(path), text);
  else if (readFileSync(file(path), 'utf8') !== text) {
    console.error(`${path} is older than openapi.json; run npm run openapi`);
    process.exitCode = 1;
  }
}
