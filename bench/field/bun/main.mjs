// Elysia on Bun, with the SQLite and PostgreSQL clients of Bun: prepared statements, a cached key lookup by digest, two
// counters per client, validation by schema, an access line, a latency histogram by prom-client.
// Arguments: `sqlite:PATH` or `postgres://...` with the schema in place, the port, and the address in its links.
import { randomUUID } from 'node:crypto';
import { CryptoHasher } from 'bun';
import { Elysia, t } from 'elysia';
import { take } from '../fastify/counters.mjs';
import { policyOf, quotaHeaders } from '../fastify/quota.mjs';
import { observe } from './observe.mjs';
import { openStorage } from './storage.mjs';

const [, , databaseUrl, port, address] = process.argv;
const storage = await openStorage(databaseUrl);
const base = `${address}/v1`;
const callers = new Map();
const status = t.Optional(t.Union(['available', 'pending', 'sold'].map((each) => t.Literal(each))));

const newPet = t.Object(
  { name: t.String({ minLength: 1, maxLength: 255 }), categoryId: t.Integer(), status },
  { additionalProperties: false },
);
const pageQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
  status,
  cursor: t.Optional(t.String()),
});

async function findCaller(digest) {
  const caller = await storage.findKey(digest);
  if (caller === undefined) return undefined;
  caller.policy = policyOf(caller);
  callers.set(digest, caller);
  return caller;
}

function digestOf(authorization) {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  return new CryptoHasher('sha256').update(authorization.slice(7)).digest('base64url');
}

/** The status and the id in a cursor; undefined if it is malformed. */
function decode(cursor) {
  const [, of, after] = /^(\w*):(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return after && { status: of || undefined, after: Number(after) };
}

/** A status that is not set is absent, not null. */
function shape(row) {
  if (row.status === null) delete row.status;
  return row;
}

new Elysia({ normalize: false })
  .onError(({ code, set }) => {
    if (code !== 'VALIDATION' && code !== 'PARSE') return undefined;
    set.status = 400;
    return { code: 'invalid_request' };
  })
  .derive(async ({ headers, set, request }) => {
    const begun = performance.now();
    const requestId = headers['x-request-id'] ?? randomUUID();
    set.headers['content-type'] = 'application/json; charset=utf-8';
    set.headers['x-request-id'] = requestId;
    set.headers['x-content-type-options'] = 'nosniff';
    set.headers['cache-control'] = request.method === 'GET' ? 'private, no-cache' : 'no-store';
    const digest = digestOf(headers.authorization);
    const caller = digest && (callers.get(digest) ?? (await findCaller(digest)));
    return { begun, requestId, caller };
  })
  .onBeforeHandle(({ caller, set }) => {
    if (caller === undefined) {
      set.status = 401;
      return { code: 'invalid_api_key' };
    }
    const counted = take(caller);
    Object.assign(set.headers, quotaHeaders(caller, counted));
    if (counted.admitted) return undefined;
    set.status = 429;
    return { code: 'rate_limit_exceeded' };
  })
  .onAfterResponse(({ route, request, set, begun, requestId, caller }) =>
    observe({
      requestId,
      keyId: caller?.keyId,
      operation: route,
      method: request.method,
      status: set.status ?? 200,
      durationMs: performance.now() - begun,
    }),
  )
  .get(
    '/v1/pets',
    async ({ query, set }) => {
      const { limit, cursor } = query;
      const from = cursor === undefined ? { ...query, after: 0 } : decode(cursor);
      if (from === undefined || from.status !== query.status) {
        set.status = 400;
        return { code: 'invalid_request' };
      }
      const rows = await storage.page(query.status, from.after, limit + 1);
      if (rows.length > limit) {
        rows.pop();
        const next = Buffer.from(`${query.status ?? ''}:${rows.at(-1).id}`).toString('base64url');
        const filter = query.status === undefined ? '' : `status=${query.status}&`;
        set.headers.link = `<${base}/pets?${filter}limit=${limit}&cursor=${next}>; rel="next"`;
      }
      rows.forEach(shape);
      return rows;
    },
    { query: pageQuery },
  )
  .get('/v1/pets/:petId', async ({ params, set }) => {
    const row = await storage.find(params.petId);
    if (row === undefined) {
      set.status = 404;
      return { code: 'pet_not_found' };
    }
    set.headers.deprecation = '@1764892800';
    set.headers.sunset = 'Thu, 05 Dec 2030 00:00:00 GMT';
    set.headers.link = `<${base}/pets>; rel="successor-version", <${address}/docs>; rel="deprecation"; type="text/html"`;
    return shape(row);
  })
  .post(
    '/v1/pets',
    async ({ body, set }) => {
      const row = await storage.insert(body.name, body.categoryId, body.status ?? null);
      set.status = 201;
      set.headers.location = `${base}/pets/${row.id}`;
      return shape(row);
    },
    { body: newPet },
  )
  .listen({ port: Number(port), hostname: '127.0.0.1' });
