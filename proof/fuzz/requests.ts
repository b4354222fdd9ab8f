import fc, { type Arbitrary } from 'fast-check';
import type { Document, Operation, Parameter } from './document.js';
import { jsonOf, type Value, Values } from './values.js';

/** What a request is, and so which response it may get. */
export type Kind =
  | 'positive'
  | 'negative'
  | 'unsupported_method'
  | 'ignored_auth'
  | 'insufficient_scope'
  | 'missing_required_header';

export interface FuzzRequest {
  kind: Kind;
  operation: Operation;
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string;
  /** The fault that was put in. */
  fault?: string;
}

/** Paths of the extension that the server has. */
const EXTENSION = '/v1/store/';
/** Only the service makes values of these parameters. */
const OPAQUE = ['cursor'];
const JSON_TYPE = { 'content-type': 'application/json' };
const METHODS = ['PUT', 'DELETE', 'PATCH', 'POST', 'GET', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const BAD_INTEGERS = [
  '',
  'x',
  '+5',
  '05',
  '1e1',
  '5.0',
  ' 5',
  '0x10',
  'NaN',
  '9223372036854775808',
];
const NO_JSON = ['', '{', '{"a":1,}', '[1', 'nul', "{'a':1}", '{"a" 1}', '"\\x"', '1e'];
const OTHER_TYPES = ['text/plain', 'application/xml', 'application/json; charset=utf-16', ''];

export interface Keys {
  full: string;
  /** For each scope, a key that lacks it. */
  without: Readonly<Record<string, string>>;
}

/** Operations on usage and on the key itself have a limit of their own, 60 requests a minute. */
export function isLimited(operation: Operation): boolean {
  return operation.scopes.length === 0 || isOnKey(operation);
}

/** Whether an operation is about the key of the caller, such as its end. */
export function isOnKey({ path }: Operation): boolean {
  return /\/key(?:\/|$)/.test(path);
}

/** Makes requests from the operations of a document. */
export class Requests {
  private readonly values: Values;

  constructor(
    private readonly document: Document,
    private readonly keys: Keys,
  ) {
    this.values = new Values(document);
  }

  any(): Arbitrary<FuzzRequest> {
    return fc.oneof(
      ...this.document.operations.map((operation) => ({
        weight: isLimited(operation) ? 1 : 10,
        arbitrary: this.of(operation),
      })),
    );
  }

  private of(operation: Operation): Arbitrary<FuzzRequest> {
    const positive = this.positive(operation);
    const negatives = this.negatives(operation, positive);
    const negative = negatives.length === 0 ? positive : fc.oneof(...negatives);
    const either = fc.oneof(positive, negative);
    return fc.oneof(
      { weight: 6, arbitrary: positive },
      { weight: 7, arbitrary: negative },
      { weight: 1, arbitrary: this.unsupportedMethod(either) },
      { weight: 2, arbitrary: this.withoutAuthentication(either) },
      ...operation.scopes.map((scope) => ({
        weight: 1,
        arbitrary: either.map((request) => this.withoutScope(request, scope)),
      })),
      ...this.withoutHeader(operation, positive),
    );
  }

  private positive(operation: Operation): Arbitrary<FuzzRequest> {
    const { method, parameters, body } = operation;
    const known = parameters.filter(({ name }) => !OPAQUE.includes(name));
    const entries = known.map((parameter) => {
      const isHeader = parameter.in === 'header' && !this.isConstrained(parameter);
      // A header is text of ASCII without white space around it.
      const value = isHeader
        ? fc.string({ unit: 'grapheme-ascii', maxLength: 40 }).map((text) => text.trim())
        : this.values.valid(parameter.schema).map(textOf);
      return parameter.required ? value : fc.option(value, { nil: undefined });
    });
    return fc
      .record({
        given: fc.tuple(...entries),
        content: body === undefined ? fc.constant(undefined) : this.values.valid(body),
        isHead: fc.boolean(),
      })
      .map(({ given, content, isHead }) => {
        const headers: Record<string, string> = { authorization: `Bearer ${this.keys.full}` };
        const request: FuzzRequest = {
          ...{ kind: 'positive', operation, method, target: operation.path, headers },
        };
        if (method === 'GET' && isHead) request.method = 'HEAD';
        for (const [index, parameter] of known.entries()) put(request, parameter, given[index]);
        if (content !== undefined) {
          Object.assign(headers, JSON_TYPE);
          request.body = jsonOf(content);
        }
        return request;
      });
  }

  /** Each has exactly one fault. */
  private negatives(
    operation: Operation,
    positive: Arbitrary<FuzzRequest>,
  ): Arbitrary<FuzzRequest>[] {
    const { parameters, body } = operation;
    const wrongable = parameters.filter(
      (each) => this.isConstrained(each) || OPAQUE.includes(each.name),
    );
    const negatives = wrongable.map((parameter) =>
      fc
        .tuple(positive, this.invalidText(parameter))
        .map(([request, text]) => withParameter(request, parameter, text)),
    );
    const queries = parameters.filter((each) => each.in === 'query');
    // An operation of an extension that declares no query may have any.
    if (queries.length > 0 || !operation.path.startsWith(EXTENSION)) {
      negatives.push(withUnknownQuery(positive, queries));
    }
    negatives.push(...queries.map(({ name }) => withRepeatedQuery(positive, name)));
    if (body === undefined) return negatives;
    const bodies = fc.oneof(
      this.values.invalid(body).map((value) => [jsonOf(value), 'a member'] as const),
      fc.constantFrom(...NO_JSON).map((text) => [text, 'no JSON'] as const),
      fc
        .integer({ min: 65_537, max: 80_000 })
        .map((size) => [' '.repeat(size), 'too much'] as const),
      fc.integer({ min: 1, max: 30_000 }).map((depth) => ['['.repeat(depth), 'depth'] as const),
    );
    const withBody = fc
      .tuple(positive, bodies)
      .map(([request, [text, fault]]) => changed(request, { body: text, fault: `body: ${fault}` }));
    const withType = fc
      .tuple(positive, fc.constantFrom(...OTHER_TYPES))
      .map(([request, type]) => withHeader(request, 'content-type', type));
    const truncated = positive.map((request) =>
      changed(request, { body: request.body!.slice(0, -1), fault: 'body: truncated' }),
    );
    negatives.push(withBody, withBody, withBody, withType, truncated);
    return negatives;
  }

  private invalidText({ name, schema, in: place }: Parameter): Arbitrary<string> {
    if (OPAQUE.includes(name)) return fc.constantFrom('x', 'bnVsbA', '7', 'eyJpZCI6MX0');
    const { type, maxLength } = this.document.resolve(schema);
    const isInteger = type === 'integer';
    // An empty path segment is another path, which the URL of the request decides.
    const texts = fc.constantFrom(
      ...BAD_INTEGERS,
      '-',
      'x'.repeat((maxLength ?? 90) + 1),
      '\u00e9',
    );
    const isExcluded = (text: string): boolean =>
      isInteger
        ? !/^-?(?:0|[1-9]\d{0,18})$/.test(text) || text.length > 18
        : this.isBad(schema, text);
    const isSendable = (text: string): boolean => place !== 'path' || text !== '';
    return texts.filter((text) => isExcluded(text) && isSendable(text));
  }

  /** Whether some text is not a value of a parameter. */
  private isConstrained({ schema }: Parameter): boolean {
    const { type, pattern, maxLength, enum: words } = this.document.resolve(schema);
    return type !== 'string' || [pattern, maxLength, words].some((each) => each !== undefined);
  }

  private isBad(schema: Parameter['schema'], text: string): boolean {
    // HTTP removes white space around the value of a header.
    return this.document.faultOf(schema, text.trim()) !== undefined;
  }

  private unsupportedMethod(requests: Arbitrary<FuzzRequest>): Arbitrary<FuzzRequest> {
    return fc.tuple(requests, fc.constantFrom(...METHODS)).map(([request, method]) => {
      const isSupported = this.document.methodsOf(request.operation.path).includes(method);
      const kind = 'unsupported_method';
      const unsupported = isSupported ? 'DELETE_' : method;
      return changed(request, { kind, method: unsupported === 'DELETE_' ? 'LOCK' : unsupported });
    });
  }

  private withoutAuthentication(requests: Arbitrary<FuzzRequest>): Arbitrary<FuzzRequest> {
    const { full } = this.keys;
    const wrong = [
      ...[undefined, '', 'Bearer', 'Bearer ', `Basic ${full}`, full, `Bearer ${full}x`],
      ...[
        `Bearer ${full.slice(0, -1)}`,
        `Bearer ${full} ${full}`,
        'Bearer psk_',
        `Bearer\t${full}`,
      ],
      `Bearer ${full.slice(0, 10)}${full[10] === 'a' ? 'b' : 'a'}${full.slice(11)}`,
    ];
    return fc.tuple(requests, fc.constantFrom(...wrong)).map(([request, value]) => {
      const { authorization, ...headers } = request.headers;
      void authorization;
      if (value !== undefined) headers['authorization'] = value;
      return changed(request, { kind: 'ignored_auth', headers });
    });
  }

  private withoutScope(request: FuzzRequest, scope: string): FuzzRequest {
    const headers = Object.assign({}, request.headers, {
      authorization: `Bearer ${this.keys.without[scope]!}`,
    });
    return changed(request, { kind: 'insufficient_scope', headers });
  }

  private withoutHeader(
    { parameters, body }: Operation,
    positive: Arbitrary<FuzzRequest>,
  ): { weight: number; arbitrary: Arbitrary<FuzzRequest> }[] {
    const required = parameters.filter((each) => each.in === 'header' && each.required);
    const names = required.map(({ name }) => name.toLowerCase());
    if (body !== undefined) names.push('content-type');
    return names.map((name) => ({
      weight: 1,
      arbitrary: positive.map((request) => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).filter(([each]) => each !== name),
        );
        return changed(request, { kind: 'missing_required_header', headers, fault: name });
      }),
    }));
  }
}

function withUnknownQuery(
  positive: Arbitrary<FuzzRequest>,
  known: readonly Parameter[],
): Arbitrary<FuzzRequest> {
  const similar = known.flatMap(({ name }) => [`${name}[]`, name.toUpperCase()]);
  const names = ['page', '__proto__', 'constructor', 'a[b]', '', ...similar];
  return fc
    .tuple(positive, fc.constantFrom(...names))
    .map(([request, name]) =>
      withQuery(request, `${encodeURIComponent(name)}=1`, 'unknown parameter'),
    );
}

function withRepeatedQuery(positive: Arbitrary<FuzzRequest>, name: string): Arbitrary<FuzzRequest> {
  return positive.map((request) => withQuery(request, `${name}=1&${name}=1`, 'repeated parameter'));
}

function withQuery(request: FuzzRequest, query: string, fault: string): FuzzRequest {
  const separator = request.target.includes('?') ? '&' : '?';
  return changed(request, { target: request.target + separator + query, fault });
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : jsonOf(value);
}

function put(request: FuzzRequest, { name, in: place }: Parameter, text: string | undefined): void {
  if (text === undefined) return;
  if (place === 'header') {
    request.headers[name.toLowerCase()] = text;
  } else if (place === 'path') {
    request.target = request.target.replace(`{${name}}`, encodeURIComponent(text));
  } else {
    const separator = request.target.includes('?') ? '&' : '?';
    request.target += `${separator}${name}=${encodeURIComponent(text)}`;
  }
}

function withParameter(request: FuzzRequest, parameter: Parameter, text: string): FuzzRequest {
  const { name, in: place } = parameter;
  const fault = `${place} parameter ${name}`;
  if (place === 'header') return withHeader(request, name.toLowerCase(), text);
  const value = encodeURIComponent(text);
  if (place === 'path') {
    const before = request.operation.path.indexOf(`{${name}}`);
    const rest = request.target.slice(before).replace(/^[^/?]*/, '');
    return changed(request, { target: request.target.slice(0, before) + value + rest, fault });
  }
  const [path = '', query = ''] = request.target.split('?');
  const others = query.split('&').filter((each) => each !== '' && !each.startsWith(`${name}=`));
  return changed(request, {
    target: `${path}?${[...others, `${name}=${value}`].join('&')}`,
    fault,
  });
}

function withHeader(request: FuzzRequest, name: string, value: string): FuzzRequest {
  const headers = Object.assign({}, request.headers, { [name]: value });
  return changed(request, { headers, fault: `header ${name}` });
}

/** A changed request is a negative one, unless the change says otherwise. */
function changed(request: FuzzRequest, change: Partial<FuzzRequest>): FuzzRequest {
  return Object.assign({}, request, { kind: 'negative' }, change);
}
