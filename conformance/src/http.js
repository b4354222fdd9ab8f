import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Exchange } from './exchange.js';

/** A response that takes longer is a fault. */
const TIMEOUT_MS = 10_000;
/** Simultaneous requests, except in the level `exact`. */
const CONCURRENCY = 20;

/** Sends requests exactly as given, without default fields except `Host` and `Content-Length`. */
export class Http {
  /** @param {() => number} now the time in milliseconds */
  constructor(now) {
    this.now = now;
    this.agents = new Map();
  }

  /**
   * @param {URL} base
   * @param {import('./exchange.js').Sent} sent
   * @param {{key: string, wide?: boolean}} options `wide`: more than 20 requests at once
   * @returns {Promise<Exchange>}
   */
  async send(base, sent, options) {
    try {
      return await this.attempt(base, sent, options);
    } catch (error) {
      // The server closed an idle connection while the request was on its way.
      if (error.reusedSocket && error.code === 'ECONNRESET') {
        return this.attempt(base, sent, options);
      }
      throw error;
    }
  }

  attempt(base, sent, { key, wide = false }) {
    const { method, target, headers, body } = sent;
    const request = base.protocol === 'https:' ? httpsRequest : httpRequest;
    const sentAt = this.now();
    return new Promise((resolve, reject) => {
      const outgoing = request({
        hostname: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port,
        path: target,
        method,
        headers,
        agent: this.agent(base.protocol, wide),
        timeout: TIMEOUT_MS,
      });
      const fail = (error) =>
        reject(Object.assign(error, { reusedSocket: outgoing.reusedSocket, sent }));
      outgoing.on('error', fail);
      outgoing.on('timeout', () =>
        outgoing.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} s`)),
      );
      outgoing.on('response', (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const context = { sentAt, receivedAt: this.now(), key };
          const fields = pairs(response.rawHeaders);
          resolve(new Exchange(sent, response.statusCode, fields, text, context));
        });
      });
      if (body !== undefined) outgoing.setHeader('content-length', Buffer.byteLength(body));
      outgoing.end(body);
    });
  }

  agent(protocol, wide) {
    const name = `${protocol}${wide}`;
    const Agent = protocol === 'https:' ? HttpsAgent : HttpAgent;
    if (!this.agents.has(name)) {
      const maxSockets = wide ? Infinity : CONCURRENCY;
      this.agents.set(name, new Agent({ keepAlive: true, maxSockets }));
    }
    return this.agents.get(name);
  }

  /** Closes all idle connections. */
  close() {
    for (const agent of this.agents.values()) agent.destroy();
    this.agents.clear();
  }
}

/** @returns {[string, string][]} */
function pairs(raw) {
  const fields = [];
  for (let at = 0; at < raw.length; at += 2) fields.push([raw[at].toLowerCase(), raw[at + 1]]);
  return fields;
}
