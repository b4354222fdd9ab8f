// Hand-written Fastify: prepared statements, a cached key lookup by digest, two counters per client, compiled validation
// and serialisation, an access line by pino, a latency histogram by prom-client.
// Arguments: `sqlite:PATH` or `postgres://...` with the schema in place, the port, and the address in its links.
import { hash, randomUUID } from 'node:crypto';
import fastify from 'fastify';
import { take } from './counters.mjs';
import { observe } from './observe.mjs';
import { policyOf, quotaHeaders } from './quota.mjs';
import { newPet, pageQuery, pet } from './schemas.mjs';

const [, , databaseUrl, port, address] = process.argv;
const storage = await openStorage(databaseUrl);

async function openStorage(url) {
  if (url.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite.storage.mjs');
    return openSqlite(url.slice('sqlite:'.length));
  }
  const { openPostgres } = await import('./postgres.storage.mjs');
  return openPostgres(url);
}

/** SQLite is synchronous and does not pay for promises. */
function then(value, next) {
  return value instanceof Promise ? value.then(next) : next(value);
}

const base = `${address}/v1`;
const callers = new Map();

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
    const counted = take(caller);
    reply.headers(quotaHeaders(caller, counted));
    if (!counted.admitted) return void reply.code(429).send({ code: 'rate_limit_exceeded' });
    done();
  });
  if (admitted instanceof Promise) admitted.catch(done);
});

app.addHook('onResponse', (request, reply, done) => {
  observe({
    requestId: request.id,
    keyId: request.keyId,
    operation: request.routeOptions.url,
    method: request.method,
    status: reply.statusCode,
    durationMs: reply.elapsedTime,
  });
  done();
});

/** A status that is not set is absent, not null. */
function shape(row) {
  if (row.status === null) delete row.status;
  return row;
}

/** The status and the id in a cursor; undefined if it is malformed. */
function decode(cursor) {
  const [, status, after] = /^(\w*):(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return after && { status: status || undefined, after: Number(after) };
}

app.get(
  '/v1/pets',
  { schema: { querystring: pageQuery, response: { 200: { type: 'array', items: pet } } } },
  (request, reply) => {
    const { limit, status, cursor } = request.query;
    const from = cursor === undefined ? { status, after: 0 } : decode(cursor);
    if (from === undefined || from.status !== status)
      return void reply.code(400).send({ code: 'invalid_request' });
    return then(storage.page(status, from.after, limit + 1), (rows) => {
      if (rows.length > limit) {
        rows.pop();
        const next = Buffer.from(`${status ?? ''}:${rows.at(-1).id}`).toString('base64url');
        const filter = status === undefined ? '' : `status=${status}&`;
        reply.header('link', `<${base}/pets?${filter}limit=${limit}&cursor=${next}>; rel="next"`);
      }
      rows.forEach(shape);
      reply.send(rows);
    });
  },
);

app.get('/v1/pets/:petId', { schema: { response: { 200: pet } } }, (request, reply) =>
  then(storage.find(request.params.petId), (row) => {
    if (row === undefined) return void reply.code(404).send({ code: 'pet_not_found' });
    reply.header('deprecation', '@1764892800');
    reply.header('sunset', 'Thu, 05 Dec 2030 00:00:00 GMT');
    reply.header(
      'link',
      `<${base}/pets>; rel="successor-version", <${address}/docs>; rel="deprecation"; type="text/html"`,
    );
    reply.send(shape(row));
  }),
);

app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, (request, reply) => {
  const { name, categoryId, status = null } = request.body;
  return then(storage.insert(name, categoryId, status), (row) => {
    reply.code(201).header('location', `${base}/pets/${row.id}`).send(shape(row));
  });
});

await app.listen({ port: Number(port), host: '127.0.0.1' });
