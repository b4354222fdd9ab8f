// The floor: what an expert would write without a framework. Hand-written Fastify and better-sqlite3 with
// prepared statements, a key look-up by digest, two counters per key, the same headers, compiled
// serialisation, and one durable commit per create.
import { hash, randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import fastify from 'fastify';

const [, , file, port] = process.argv;
const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('mmap_size = 268435456');

const COLUMNS = 'id, name, category_id AS categoryId, status';
const page = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`);
const one = database.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const insert = database.prepare(
  `INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
);
const findKey = database.prepare(
  'SELECT client_id AS subject, per_minute AS perMinute, per_day AS perDay FROM api_keys WHERE digest = ?',
);

const base = `http://localhost:${port}/v1`;
const callers = new Map();
const counters = new Map();

function callerOf(authorization) {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const digest = hash('sha256', authorization.slice(7), 'base64url');
  let caller = callers.get(digest);
  if (caller === undefined) {
    caller = findKey.get(digest);
    if (caller === undefined) return undefined;
    caller.policy = `"minute";q=${caller.perMinute};w=60,"day";q=${caller.perDay};w=86400`;
    callers.set(digest, caller);
  }
  return caller;
}

function count({ subject, perMinute, perDay }) {
  const now = Date.now();
  const minute = Math.floor(now / 60_000);
  const day = Math.floor(now / 86_400_000);
  let counter = counters.get(subject);
  if (counter === undefined)
    counters.set(subject, (counter = { minute, inMinute: 0, day, inDay: 0 }));
  if (counter.minute !== minute) [counter.minute, counter.inMinute] = [minute, 0];
  if (counter.day !== day) [counter.day, counter.inDay] = [day, 0];
  const admitted = counter.inMinute < perMinute && counter.inDay < perDay;
  if (admitted) [counter.inMinute, counter.inDay] = [counter.inMinute + 1, counter.inDay + 1];
  const minuteLeft = perMinute - counter.inMinute;
  const dayLeft = perDay - counter.inDay;
  const byMinute = minuteLeft < dayLeft;
  const seconds = now / 1000;
  const [minuteReset, dayReset] = [(minute + 1) * 60, (day + 1) * 86_400];
  return {
    admitted,
    limit: byMinute ? perMinute : perDay,
    remaining: byMinute ? minuteLeft : dayLeft,
    reset: byMinute ? minuteReset : dayReset,
    both: `"minute";r=${minuteLeft};t=${Math.ceil(minuteReset - seconds)},"day";r=${dayLeft};t=${Math.ceil(dayReset - seconds)}`,
  };
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
const query = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
};

const app = fastify({ logger: false });
app.addHook('onRequest', (request, reply, done) => {
  reply.header('x-request-id', request.headers['x-request-id'] ?? randomUUID());
  const caller = callerOf(request.headers.authorization);
  if (caller === undefined) return void reply.code(401).send({ code: 'invalid_api_key' });
  const quota = count(caller);
  reply.header('x-ratelimit-limit', quota.limit);
  reply.header('x-ratelimit-remaining', quota.remaining);
  reply.header('x-ratelimit-reset', quota.reset);
  reply.header('ratelimit-policy', caller.policy);
  reply.header('ratelimit', quota.both);
  if (!quota.admitted) return void reply.code(429).send({ code: 'rate_limit_exceeded' });
  done();
});

/** Absent, not null. */
function shape(row) {
  if (row.status === null) delete row.status;
  return row;
}

app.get(
  '/v1/pets',
  { schema: { querystring: query, response: { 200: { type: 'array', items: pet } } } },
  (request, reply) => {
    const { limit } = request.query;
    const rows = page.all(0, limit + 1);
    if (rows.length > limit) {
      rows.pop();
      const cursor = Buffer.from(`:${rows.at(-1).id}`).toString('base64url');
      reply.header('link', `<${base}/pets?limit=${limit}&cursor=${cursor}>; rel="next"`);
    }
    rows.forEach(shape);
    reply.send(rows);
  },
);

app.get('/v1/pets/:petId', { schema: { response: { 200: pet } } }, (request, reply) => {
  const row = one.get(request.params.petId);
  if (row === undefined) return void reply.code(404).send({ code: 'pet_not_found' });
  reply.header('deprecation', '@1764892800');
  reply.header('sunset', 'Thu, 05 Dec 2030 00:00:00 GMT');
  reply.header(
    'link',
    `<${base}/pets>; rel="successor-version", <http://localhost:${port}/docs>; rel="deprecation"; type="text/html"`,
  );
  reply.send(shape(row));
});

app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, (request, reply) => {
  const { name, categoryId, status = null } = request.body;
  const row = insert.get(name, categoryId, status);
  reply.code(201).header('location', `${base}/pets/${row.id}`).send(shape(row));
});

await app.listen({ port: Number(port), host: '127.0.0.1' });
