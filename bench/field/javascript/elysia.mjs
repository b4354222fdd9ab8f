// Elysia on Bun: routes with schemas, hooks of the life cycle, the SQLite of Bun. Arguments:
// `sqlite:PATH` with the schema in place, the port, and the address in its links. The environment
// variable ELYSIA is the folder that has the package.
/* global Bun, Response */
import { randomUUID } from 'node:crypto';
import * as duties from './duties.mjs';

const { base, callerOf, deprecation, record, storage, take, withoutNull } = duties;

const { Elysia, t } = await import(Bun.resolveSync('elysia', process.env.ELYSIA));

const newPet = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255 }),
    categoryId: t.Integer(),
    status: t.Optional(t.Union(['available', 'pending', 'sold'].map((each) => t.Literal(each)))),
  },
  { additionalProperties: false },
);
const pageQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: t.Optional(t.String()),
});
const petParams = t.Object({ petId: t.Integer() });

new Elysia({ normalize: false })
  .onRequest((context) => {
    const { request, set } = context;
    context.began = performance.now();
    const requestId = request.headers.get('x-request-id') ?? randomUUID();
    set.headers['x-request-id'] = requestId;
    set.headers['x-content-type-options'] = 'nosniff';
    set.headers['cache-control'] = request.method === 'GET' ? 'private, no-cache' : 'no-store';
  })
  .onTransform((context) => {
    const { headers, set, status } = context;
    const caller = callerOf(headers.authorization);
    if (caller === undefined) throw status(401, { code: 'invalid_api_key' });
    context.keyId = caller.keyId;
    const { admitted, headers: quota } = take(caller);
    Object.assign(set.headers, quota);
    if (!admitted) throw status(429, { code: 'rate_limit_exceeded' });
  })
  .mapResponse(({ response, request, set }) => {
    const body = JSON.stringify(response);
    if (request.method === 'GET' && set.status === 200) set.headers.etag = duties.tagOf(body);
    set.headers['content-type'] = 'application/json; charset=utf-8';
    return new Response(body, set);
  })
  .onAfterResponse(({ began, keyId, request, route, set }) => {
    const requestId = set.headers['x-request-id'];
    const reply = { statusCode: set.status, elapsedTime: performance.now() - began };
    record({ requestId, keyId, method: request.method, operation: route }, reply);
  })
  .get(
    '/v1/pets',
    ({ query: { limit, cursor }, set, status }) => {
      const after = duties.positionOf(cursor);
      if (!Number.isSafeInteger(after)) throw status(400, { code: 'invalid_request' });
      const rows = storage.page(after, limit + 1);
      const link = duties.linkToNext(rows, limit);
      if (link !== undefined) set.headers.link = link;
      rows.forEach(withoutNull);
      return rows;
    },
    { query: pageQuery },
  )
  .get(
    '/v1/pets/:petId',
    ({ params, set, status }) => {
      const row = storage.find(params.petId);
      if (!row) throw status(404, { code: 'pet_not_found' });
      Object.assign(set.headers, deprecation);
      return withoutNull(row);
    },
    { params: petParams },
  )
  .post(
    '/v1/pets',
    ({ body: { name, categoryId, status = null }, set }) => {
      const row = storage.insert(name, categoryId, status);
      set.status = 201;
      set.headers.location = `${base}/pets/${row.id}`;
      return withoutNull(row);
    },
    { body: newPet },
  )
  .listen({ port: duties.port, hostname: '127.0.0.1' });
