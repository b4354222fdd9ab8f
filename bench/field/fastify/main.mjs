// Hand-written Fastify: prepared statements, a cached key lookup by digest, two counters per client,
// compiled validation and serialisation, an access line by pino, a latency histogram by prom-client.
// Arguments: `sqlite:PATH` or `postgres://...` with the schema in place, the port, and the address
// in its links.
import { hash, randomUUID } from 'node:crypto';
import fastify from 'fastify';
import { destination, pino } from 'pino';
import { Histogram } from 'prom-client';
import { policyOf, take } from './quota.mjs';
import { openStorage } from './storage.mjs';

const [, , databaseUrl, port, address] = process.argv;
const storage = openStorage(databaseUrl);
const base = `${address}/v1`;
const deprecation = {
  deprecation: '@1764892800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: `<${base}/pets>; rel="successor-version", <${address}/docs>; rel="deprecation"; type="text/html"`,
};
const callers = new Map();
const log = pino(
  { base: { service: 'fastify' }, formatters: { level: (level) => ({ level }) } },
  destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 200 }),
);

/** With the labels and buckets of the service. */
const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the request line to the last byte of the response.',
  labelNames: ['operation', 'method', 'status'],
  buckets: [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
});

/** SQLite is synchronous and does not pay for promises. */
function then(value, next) {
  return value instanceof Promise ? value.then(next) : next(value);
}

function callerOf(authorization) {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const digest = hash('sha256', authorization.slice(7), 'base64url');
  const known = callers.get(digest);
  if (known !== undefined) return known;
  return then(storage.findKey(digest), (caller) => {
    if (caller === undefined) return undefined;
    caller.policy = policyOf(caller);
    callers.set(digest, caller);
    return caller;
  });
}

const pet = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { type: 'integer' },
    status: { enum: ['available', 'pending', 'sold'] },
  },
};
const pageQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: { type: 'string' },
  },
};
const page = { type: 'array', items: pet };

function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}

const app = fastify({ genReqId: ({ headers }) => headers['x-request-id'] ?? randomUUID() });
app.decorateRequest('keyId');

app.addHook('onRequest', (request, reply, done) => {
  reply.headers({
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    'cache-control': request.method === 'GET' ? 'private, no-cache' : 'no-store',
  });
  const admitted = then(callerOf(request.headers.authorization), (caller) => {
    if (caller === undefined) return void reply.code(401).send({ code: 'invalid_api_key' });
    request.keyId = caller.keyId;
    const { admitted, headers } = take(caller);
    reply.headers(headers);
    if (!admitted) return void reply.code(429).send({ code: 'rate_limit_exceeded' });
    done();
  });
  if (admitted instanceof Promise) admitted.catch(done);
});

app.addHook('onSend', (request, reply, payload, done) => {
  const isTagged = request.method === 'GET' && reply.statusCode === 200;
  if (isTagged) reply.header('etag', `"${hash('sha256', payload, 'base64url').slice(0, 22)}"`);
  done(null, payload);
});

app.addHook('onResponse', (request, reply, done) => {
  const { id: requestId, keyId, method } = request;
  const labels = { operation: request.routeOptions.url, method, status: reply.statusCode };
  durations.observe(labels, reply.elapsedTime / 1000);
  const durationMs = Math.round(reply.elapsedTime * 100) / 100;
  log.info({ requestId, keyId, ...labels, durationMs }, 'request');
  done();
});

app.get(
  '/v1/pets',
  { schema: { querystring: pageQuery, response: { 200: page } } },
  (request, reply) => {
    const { limit, cursor } = request.query;
    const after = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64url'));
    if (!Number.isSafeInteger(after)) return void reply.code(400).send({ code: 'invalid_request' });
    return then(storage.page(after, limit + 1), (rows) => {
      if (rows.length > limit) {
        rows.pop();
        const next = Buffer.from(String(rows.at(-1).id)).toString('base64url');
        reply.header('link', `<${base}/pets?limit=${limit}&cursor=${next}>; rel="next"`);
      }
      rows.forEach(withoutNull);
      reply.send(rows);
    });
  },
);

app.get('/v1/pets/:petId', { schema: { response: { 200: pet } } }, (request, reply) =>
  then(storage.find(request.params.petId), (row) => {
    if (row === undefined) return void reply.code(404).send({ code: 'pet_not_found' });
    reply.headers(deprecation).send(withoutNull(row));
  }),
);

app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, (request, reply) => {
  const { name, categoryId, status = null } = request.body;
  return then(storage.insert(name, categoryId, status), (row) => {
    reply.code(201).header('location', `${base}/pets/${row.id}`).send(withoutNull(row));
  });
});

await app.listen({ port: Number(port), host: '127.0.0.1' });
