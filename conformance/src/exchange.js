import { parseExact } from './exact-json.js';

/**
 * A request and its response, as they were sent and received.
 * @typedef {{method: string, target: string, headers: Record<string, string | string[]>,
 *   body?: string | Buffer}} Sent
 */
export class Exchange {
  /**
   * @param {Sent} sent
   * @param {number} status
   * @param {[string, string][]} fields header fields in their order; names in lower case
   * @param {string} text the body
   * @param {{sentAt: number, receivedAt: number, key: string}} context times in milliseconds;
   *   `key`: which key was sent
   */
  constructor(sent, status, fields, text, context) {
    this.sent = sent;
    this.status = status;
    this.fields = fields;
    this.text = text;
    this.sentAt = context.sentAt;
    this.receivedAt = context.receivedAt;
    this.key = context.key;
  }

  /** All values of a header field. */
  values(name) {
    return this.fields.filter(([each]) => each === name).map(([, value]) => value);
  }

  /** The value of a header field; undefined if it is absent. */
  header(name) {
    const values = this.values(name);
    return values.length === 0 ? undefined : values.join(', ');
  }

  /** The body as JSON with exact integers; undefined if it is not JSON. */
  get json() {
    try {
      return parseExact(this.text);
    } catch {
      return undefined;
    }
  }

  /** The code of an Error body. */
  get code() {
    return this.json?.code;
  }

  /** The pets of a list; an empty array if the body is not a list. */
  get pets() {
    const { json } = this;
    return Array.isArray(json) ? json : [];
  }

  /** The target of the `Link` with this relation; undefined if there is none. */
  link(relation) {
    const links = (this.header('link') ?? '').matchAll(/<([^>]*)>\s*((?:;\s*[^,]*)*)/g);
    for (const [, target, parameters] of links) {
      const [, quoted, bare] = /rel=(?:"([^"]*)"|([^\s;]+))/.exec(parameters) ?? [];
      if ((quoted ?? bare ?? '').split(' ').includes(relation)) return target;
    }
    return undefined;
  }

  /** Both windows of the `RateLimit` field: remaining requests and seconds until the reset. */
  get windows() {
    const windows = {};
    const items = (this.header('ratelimit') ?? '').matchAll(/"([a-z]+)";r=(\d+);t=(\d+)/g);
    for (const [, name, left, seconds] of items) {
      windows[name] = { left: Number(left), seconds: Number(seconds) };
    }
    return windows;
  }

  /** The request and the response as text; long bodies are cut. */
  toString() {
    const { method, target, headers, body } = this.sent;
    const sent = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((each) => `${name}: ${each}`),
    );
    const lines = [`> ${method} ${cut(target)}`, ...sent.map((line) => `> ${cut(line)}`)];
    if (body !== undefined) lines.push(`> ${cut(String(body))}`);
    lines.push(`< ${this.status}`, ...this.fields.map(([name, value]) => `< ${name}: ${value}`));
    if (this.text !== '') lines.push(`< ${cut(this.text)}`);
    return lines.join('\n');
  }
}

const LONGEST = 400;

/** Shortens a text, and escapes what would break a line. */
export function cut(text) {
  const escaped = text.replace(
    // eslint-disable-next-line no-control-regex -- what is to be shown
    /[\u0000-\u001f\u007f]/g,
    (character) => JSON.stringify(character).slice(1, -1),
  );
  return escaped.length <= LONGEST
    ? escaped
    : `${escaped.slice(0, LONGEST)}... (${text.length} characters)`;
}
