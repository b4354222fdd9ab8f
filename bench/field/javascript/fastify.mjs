// Hand-written Fastify: prepared statements, compiled validation and serialisation, hooks.
// Arguments: `sqlite:PATH` or `postgres://...` with the schema in place, the port, and the address
// in its links.
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import * as duties from './duties.mjs';

const { base, callerOf, deprecation, record, storage, take, withoutNull } = duties;

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

const app = fastify({ genReqId: ({ headers }) => headers['x-request-id'] ?? randomUUID() });
app.decorateRequest('keyId');

app.addHook('onRequest', (request, reply, done) => {
  reply.headers({
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    'cache-control': request.method === 'GET' ? 'private, no-cache' : 'no-store',
  });
  const admitted = duties.then(callerOf(request.headers.authorization), (caller) => {
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
  if (isTagged) reply.header('etag', duties.tagOf(payload));
  done(null, payload);
});

app.addHook('onResponse', (request, reply, done) => {
  const { id, keyId, method, routeOptions } = request;
  record({ requestId: id, keyId, method, operation: routeOptions.url }, reply);
  done();
});

app.get(
  '/v1/pets',
  { schema: { querystring: pageQuery, response: { 200: page } } },
  (request, reply) => {
    const { limit, cursor } = request.query;
    const after = duties.positionOf(cursor);
    if (!Number.isSafeInteger(after)) return void reply.code(400).send({ code: 'invalid_request' });
    return duties.then(storage.page(after, limit + 1), (rows) => {
      const link = duties.linkToNext(rows, limit);
      if (link !== undefined) reply.header('link', link);
      rows.forEach(withoutNull);
      reply.send(rows);
    });
  },
);

app.get('/v1/pets/:petId', { schema: { response: { 200: pet } } }, (request, reply) =>
  duties.then(storage.find(request.params.petId), (row) => {
    if (row === undefined) return void reply.code(404).send({ code: 'pet_not_found' });
    reply.headers(deprecation).send(withoutNull(row));
  }),
);

app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, (request, reply) => {
  const { name, categoryId, status = null } = request.body;
  return duties.then(storage.insert(name, categoryId, status), (row) => {
    reply.code(201).header('location', `${base}/pets/${row.id}`).send(withoutNull(row));
  });
});

await app.listen({ port: duties.port, host: '127.0.0.1' });
