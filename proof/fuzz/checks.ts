import type { Answer } from '../../test/support/client.js';
import { headerCounts } from '../../test/support/expectations.js';
import type { Document, DocumentedResponse, Schema } from './document.js';
import { type FuzzRequest, isLimited } from './requests.js';

export interface Exchange {
  request: FuzzRequest;
  answer: Answer;
  document: Document;
  /** What no response may contain: the keys, the folder of the program. */
  secrets: readonly string[];
}

/** @returns what is wrong; undefined if nothing is */
type Check = (exchange: Exchange) => string | undefined;

interface NamedCheck {
  appliesTo: (exchange: Exchange) => boolean;
  check: Check;
}

const always = (): boolean => true;
const isOf =
  (kind: FuzzRequest['kind']) =>
  ({ request, answer }: Exchange): boolean =>
    request.kind === kind && !(answer.status === 429 && isLimited(request.operation));
const hasBody = ({ request, answer }: Exchange): boolean =>
  request.method !== 'HEAD' && answer.status !== 204 && answer.status !== 304;

/** Statuses of a request without faults: success, or the state of the store. */
const ACCEPTED = [200, 201, 204, 304, 404, 409];
const REJECTED = [400, 413, 415];
const LEAKS =
  /node_modules|\bat .+:\d+:\d+|\.[jt]s\b:\d|\b(?:SELECT|INSERT|UPDATE) .+(?:FROM|INTO|SET)|SQLITE_|TypeORM|FST_/;

/** The checks of Schemathesis, by name, and those of the service. */
export const CHECKS: Readonly<Record<string, NamedCheck>> = {
  not_a_server_error: {
    appliesTo: always,
    check: ({ answer }) => (answer.status >= 500 ? `status ${answer.status}` : undefined),
  },
  status_code_conformance: {
    // The document lists the statuses of its operations; a wrong method is not one of them.
    appliesTo: ({ request }) => request.kind !== 'unsupported_method',
    check: ({ request, answer }) => {
      const isPathFault = hasPathFault(request) && [404, 414].includes(answer.status);
      if (String(answer.status) in request.operation.responses || isPathFault) return undefined;
      return `undocumented status ${answer.status}`;
    },
  },
  content_type_conformance: {
    appliesTo: hasBody,
    check: (exchange) => {
      const type = exchange.answer.headers['content-type'];
      const documented = Object.keys(responseOf(exchange)?.content ?? {});
      if (documented.includes(type?.split(';')[0] ?? '')) return undefined;
      return `media type ${type} instead of ${documented.join(' or ')}`;
    },
  },
  response_headers_conformance: { appliesTo: always, check: headersFault },
  response_schema_conformance: {
    appliesTo: hasBody,
    check: (exchange) => {
      const schema = responseOf(exchange)?.content?.['application/json']?.schema;
      return schema && exchange.document.faultOf(schema, exchange.answer.json());
    },
  },
  own_response: {
    appliesTo: always,
    check: ({ request, answer }) => {
      const { 'x-request-id': id } = answer.headers;
      if (id !== request.headers['x-request-id'])
        return `X-Request-Id of another request: ${String(id)}`;
      if (answer.status !== 201 || request.operation.path !== '/v1/pets') return undefined;
      const { name } = JSON.parse(request.body!) as { name: string };
      const created = answer.json() as { name: string };
      return created.name === name ? undefined : `the pet of another request: ${created.name}`;
    },
  },
  negative_data_rejection: {
    appliesTo: isOf('negative'),
    check: ({ request, answer: { status } }) => {
      const isPathFault = hasPathFault(request) && [404, 414].includes(status);
      if (REJECTED.includes(status) || isPathFault || isReused(request, status)) return undefined;
      return `status ${status} for a fault: ${request.fault}`;
    },
  },
  positive_data_acceptance: {
    appliesTo: isOf('positive'),
    check: ({ request, answer: { status, text } }) =>
      ACCEPTED.includes(status) || isReused(request, status)
        ? undefined
        : `status ${status}: ${text}`,
  },
  missing_required_header: {
    appliesTo: isOf('missing_required_header'),
    check: ({ answer: { status } }) =>
      REJECTED.includes(status) ? undefined : `status ${status} without a required header`,
  },
  unsupported_method: {
    appliesTo: isOf('unsupported_method'),
    check: ({ request, answer: { status } }) =>
      status === 405 || (hasPathFault(request) && [404, 414].includes(status))
        ? undefined
        : `status ${status} instead of 405`,
  },
  allow_header_conformance: {
    appliesTo: ({ answer }) => answer.status === 405,
    check: ({ request, answer, document }) => {
      const methods = document.methodsOf(request.operation.path);
      if (methods.includes('GET')) methods.push('HEAD');
      const allowed = (answer.headers.allow ?? '').split(', ').sort().join();
      return allowed === methods.sort().join() ? undefined : `Allow: ${answer.headers.allow}`;
    },
  },
  ignored_auth: {
    appliesTo: isOf('ignored_auth'),
    check: ({ answer: { status, headers } }) => {
      const challenge = headers['www-authenticate'];
      if (status === 401 && challenge?.startsWith('Bearer ')) return undefined;
      return `status ${status} without a valid key, WWW-Authenticate: ${challenge}`;
    },
  },
  ignored_scope: {
    appliesTo: isOf('insufficient_scope'),
    check: ({ request, answer: { status, headers } }) => {
      if (hasPathFault(request) && [404, 414].includes(status)) return undefined;
      const challenge = headers['www-authenticate'];
      if (status === 403 && challenge?.includes('error="insufficient_scope"')) return undefined;
      return `status ${status} without the scope, WWW-Authenticate: ${challenge}`;
    },
  },
  error_body_exact: {
    appliesTo: (exchange) => hasBody(exchange) && exchange.answer.status >= 400,
    check: ({ answer }) => {
      const body = answer.json() as Record<string, unknown>;
      const isExact = Object.keys(body).sort().join() === 'code,message,status';
      const isTrue =
        body['status'] === answer.status && answer.headers['cache-control'] === 'no-store';
      return isExact && isTrue ? undefined : `not the Error body: ${answer.text}`;
    },
  },
  quota_in_range: {
    appliesTo: always,
    check: ({ answer: { headers } }) => {
      const [limit, remaining] = [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
      const isInRange = Number(remaining) >= 0 && Number(remaining) <= Number(limit);
      return isInRange ? undefined : `${String(remaining)} of ${String(limit)} requests remain`;
    },
  },
  no_leak: {
    appliesTo: always,
    check: ({ answer, secrets }) => {
      const head = answer.rawHeaders.join('\n');
      const secret = secrets.find((each) => answer.text.includes(each) || head.includes(each));
      if (secret !== undefined) return `the response contains ${secret}`;
      const [leak] = LEAKS.exec(answer.status >= 400 ? answer.text : '') ?? [];
      return leak === undefined ? undefined : `the error contains ${leak}`;
    },
  },
};

/**
 * A short Idempotency-Key may be generated twice, by two callers at once. It is compared before the
 * body is validated.
 */
function isReused({ headers }: FuzzRequest, status: number): boolean {
  return (status === 422 || status === 409) && 'idempotency-key' in headers;
}

function hasPathFault({ fault }: FuzzRequest): boolean {
  return fault?.startsWith('path') ?? false;
}

/** The documented response; errors that an operation does not list are documented as default. */
function responseOf({ request, answer, document }: Exchange): DocumentedResponse | undefined {
  const { responses } = request.operation;
  const found = responses[String(answer.status)] ?? responses['default'];
  return found && document.resolve(found);
}

function headersFault(exchange: Exchange): string | undefined {
  const { answer, document } = exchange;
  const counts = headerCounts(answer);
  for (const [name, given] of Object.entries(responseOf(exchange)?.headers ?? {})) {
    const { required = false, schema } = document.resolve(given);
    const count = counts[name.toLowerCase()] ?? 0;
    if (count > 1 || (required && count === 0)) return `${name} is sent ${count} times`;
    if (count === 0 || schema === undefined) continue;
    const fault = document.faultOf(schema, headerValue(answer, name, schema));
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return undefined;
}

function headerValue({ headers }: Answer, name: string, schema: Schema): unknown {
  const text = headers[name.toLowerCase()] as string;
  return schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}
