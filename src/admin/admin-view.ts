import type { ApiReply } from '../core/http/request.js';
import { MAX_NEAR_LIMIT } from '../core/usage/usage.repository.js';

type Members = Record<string, object>;

const STRING = { type: 'string' };
const TIME = { type: 'string', format: 'date-time' };
const ID_OR_NULL = { oneOf: [STRING, { type: 'null' }] };
const COUNT = { type: 'integer', minimum: 0 };
const STATE = { oneOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }] };

function objectOf(properties: Members) {
  return { type: 'object', properties, required: Object.keys(properties) };
}

// The schemas of responses: the objects that the command line prints with `--json`.
export const AUDIT_RECORD = objectOf({
  id: STRING,
  at: TIME,
  action: STRING,
  actor: objectOf({ type: STRING, name: STRING }),
  target: STRING,
  address: ID_OR_NULL,
  requestId: ID_OR_NULL,
  before: STATE,
  after: STATE,
});
export const USAGE = objectOf({
  hours: {
    type: 'array',
    items: objectOf({ startsAt: TIME, plan: STRING, admitted: COUNT, rejected: COUNT }),
  },
  banned: COUNT,
  expiring: COUNT,
  nearLimit: {
    type: 'array',
    maxItems: MAX_NEAR_LIMIT,
    items: objectOf({
      keyId: STRING,
      clientId: STRING,
      name: STRING,
      plan: STRING,
      window: { type: 'string', enum: ['minute', 'day'] },
      used: COUNT,
      limit: COUNT,
    }),
  },
});

/**
 * Returns a page of at most `limit` rows, with a `Link` (RFC 8288) if there are more. The link is
 * relative, because the server does not know the address of the admin port behind a proxy.
 * @param rows one more than `limit`, if there are more
 * @param name the query parameter that has the ID of the last row of a page
 */
export function pageOf<Row extends { id: string }>(
  rows: readonly Row[],
  limit: number,
  name: string,
  reply: ApiReply,
): readonly Row[] {
  if (rows.length <= limit) return rows;
  const page = rows.slice(0, limit);
  const { pathname, searchParams } = new URL(reply.request.url, 'http://localhost');
  searchParams.set(name, page.at(-1)!.id);
  reply.header('link', `<${pathname}?${searchParams.toString()}>; rel="next"`);
  return page;
}
