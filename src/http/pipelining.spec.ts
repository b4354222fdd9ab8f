import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { loadConfig } from '../config/config.js';
import { RouteTable } from './route-table.js';
import { createTransport } from './transport.js';
import { WaitingLine } from '../time/turn.js';

const BODY = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const OFFER =
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n';
const head = (line: string, ...fields: string[]) =>
  `${line} HTTP/1.1\r\nHost: x\r\n${fields.join('')}\r\n`;
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const inChunks = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** Each with what is answered to it. */
const REQUESTS: Record<string, [text: string, answer: string]> = {
  'a GET': [head('GET /a'), 'GET /a '],
  'a POST': [head('POST /b', LENGTH) + BODY, `POST /b ${BODY}`],
  'a POST in chunks': [head('POST /c', CHUNKED) + inChunks, `POST /c ${BODY}`],
  'an offer': [head('GET /d', OFFER), 'GET /d '],
  'an offer with a body': [head('POST /e', OFFER, LENGTH) + BODY, `POST /e ${BODY}`],
  'an offer with a body in chunks': [head('POST /f', CHUNKED, OFFER) + inChunks, `POST /f ${BODY}`],
};

/** On the transport alone, so that every release of Node can be asked. */
describe('a connection', () => {
  let server: FastifyInstance;
  beforeAll(async () => {
    const application = {
      judge: () => Promise.resolve(),
      admit: () => Promise.resolve(),
      sendError: () => undefined,
      answered: [],
      answeredUnread: () => undefined,
      readiness: { isDraining: false },
    };
    server = createTransport(loadConfig({}), new RouteTable(), application, new WaitingLine());
    server.all('/*', async ({ raw, url, method }) => {
      let body = '';
      for await (const chunk of raw) body += String(chunk);
      return `${method} ${url} ${body}|`;
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  /** What is answered to the packets, the last of which ends the connection. */
  async function answersTo(packets: readonly string[]): Promise<string[]> {
    const client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    const [first = '', ...others] = packets;
    client.write(first);
    for (const packet of others) {
      await once(client, 'data');
      client.write(packet);
    }
    await once(client, 'close');
    return text
      .split('|')
      .slice(0, -1)
      .map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4));
  }
  const LAST = head('GET /last', 'Connection: close\r\n');

  it.each(Object.keys(REQUESTS))(
    'answers all that comes in one packet behind %s',
    async (first) => {
      const all = [REQUESTS[first]!, ...Object.values(REQUESTS), ...Object.values(REQUESTS)];
      const answers = await answersTo([all.map(([text]) => text).join('') + LAST]);
      expect(answers).toEqual([...all.map(([, answer]) => answer), 'GET /last ']);
    },
  );

  it.each(Object.keys(REQUESTS))(
    'takes a body for a body that comes behind the packet with its head and %s',
    async (first) => {
      const [text, answer] = REQUESTS[first]!;
      const answers = await answersTo([text + head('POST /b', LENGTH), BODY + LAST]);
      expect(answers).toEqual([answer, `POST /b ${BODY}`, 'GET /last ']);
    },
  );
});
