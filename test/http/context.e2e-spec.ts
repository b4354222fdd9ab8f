import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { PetEvent } from '../../src/index.js';
import { logTo } from '../support/recorded-log.js';
import type { Answer, Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { eventually } from '../support/eventually.js';
import { startLoad } from '../support/load.js';
import { Random } from '../support/random.js';
import { parseAnswers, sendRaw } from '../support/raw-answers.js';
import { startService, type TestService, useService } from '../support/start-service.js';
import { callTool, listCall, petName, type ToolAnswer, type ToolCall } from '../support/tools.js';
import { tools } from '../support/tools-extension.js';

const CALLERS = 8;

async function clientsOf(service: TestService, count = CALLERS): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => service.client()));
}

describe('2,000 mixed requests', () => {
  const REQUESTS = 2_000;
  /** More than one tick starts. */
  const AT_ONCE = 200;
  const closing = closedAtEnd();

  /** A log in a file, with the lines of the service as they are in production. */
  async function fileLog() {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-log-'));
    const path = join(directory, 'log');
    const logger = await logTo(openSync(path, 'w'));
    closing({ [Symbol.dispose]: () => rmSync(directory, { recursive: true }) });
    type Line = Record<string, unknown> & { level: string };
    const lines = (): Line[] => {
      const complete = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      return complete.map((line) => JSON.parse(line) as Line);
    };
    return { logger, lines };
  }

  /** A request as it was sent. Without `mayBeLost`, its response has been checked. */
  interface Sent {
    id: string;
    client: Client;
    operation: string;
    status?: number;
    mayBeLost: boolean;
  }

  class Senders {
    readonly sent = new Map<string, Sent>();
    private readonly random = new Random(64);

    constructor(
      private readonly service: TestService,
      private readonly clients: readonly Client[],
      private readonly hasTools: boolean,
    ) {}

    /** Sends up to eight requests of one kind. */
    async sendSome(): Promise<void> {
      const client = this.random.pick(this.clients);
      const kinds = [this.pipelined, this.slow, this.aborted, this.plain, this.plain];
      if (this.hasTools) kinds.push(this.injected, this.injected);
      await this.random.pick(kinds).call(this, client);
    }

    private next(client: Client, operation: string, mayBeLost = false): Sent {
      const sent = { id: `r-${this.sent.size}`, client, operation, mayBeLost };
      this.sent.set(sent.id, sent);
      return sent;
    }

    private any(client: Client, mayBeLost = false): Sent {
      const operations = ['createPet', 'createPet', 'listPets', 'getKey', 'unknown', 'invalid'];
      return this.next(client, this.random.pick(operations), mayBeLost);
    }

    private static call({ id, operation, client }: Sent): ToolCall {
      const headers: Record<string, string> = { 'x-request-id': id };
      if (operation === 'listPets') return { method: 'GET', url: '/v1/pets?limit=1', headers };
      if (operation === 'getKey') return { method: 'GET', url: '/v1/key', headers };
      if (operation === 'unknown') return { method: 'GET', url: '/v1/nothing', headers };
      headers['content-type'] = 'application/json';
      const categoryId = operation === 'invalid' ? -0.5 : 1;
      const body = JSON.stringify({ name: petName(id, client.keyId!), categoryId });
      return { method: 'POST', url: '/v1/pets', headers, body };
    }

    private static text(sent: Sent): [head: string, body: string] {
      const { method, url, headers, body = '' } = Senders.call(sent);
      const fields = { Host: 'x', Authorization: `Bearer ${sent.client.key}`, ...headers };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
      return [`${method} ${url} HTTP/1.1\r\n${lines.join('')}${length}\r\n`, body];
    }

    private check(sent: Sent, answer: Pick<Answer, 'status' | 'text'> & { headers: object }): void {
      const statuses = { createPet: 201, listPets: 200, getKey: 200, unknown: 404, invalid: 400 };
      sent.status = answer.status;
      expect(answer).toMatchObject({
        status: statuses[sent.operation as keyof typeof statuses],
        headers: { 'x-request-id': sent.id },
      });
      const expected = {
        createPet: `"${petName(sent.id, sent.client.keyId!)}"`,
        getKey: `"${sent.client.keyId}"`,
      }[sent.operation];
      expect(answer.text).toContain(expected ?? '');
    }

    private async plain(client: Client): Promise<void> {
      const sent = this.any(client);
      const { url, ...call } = Senders.call(sent);
      this.check(sent, await client.send(url, call));
    }

    private async pipelined(client: Client): Promise<void> {
      const all = this.random.times(8, () => this.any(client));
      const text = all.flatMap((each) => Senders.text(each)).join('');
      const answers = parseAnswers(await sendRaw(this.service.origin, text, all.length));
      all.forEach((each, index) => this.check(each, answers[index]!));
    }

    /** Each part of the body arrives in a later tick. */
    private async slow(client: Client): Promise<void> {
      const sent = this.next(client, this.random.pick(['createPet', 'invalid']));
      const [head, body] = Senders.text(sent);
      const parts = [head, ...body.match(/.{1,9}/gs)!].map((text) => Buffer.from(text));
      this.check(sent, parseAnswers(await sendRaw(this.service.origin, parts))[0]!);
    }

    /** The client leaves before its response, or within its body. */
    private async aborted(client: Client): Promise<void> {
      const sent = this.any(client, true);
      const text = Senders.text(sent).join('');
      const { hostname, port } = new URL(this.service.origin);
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      const isCut = this.random.chance(0.5);
      await new Promise((resume) => socket.once('connect', resume));
      socket.write(isCut ? text.slice(0, -3) : text);
      for (let tick = this.random.below(4); tick > 0; tick--) await nextTick();
      socket.destroy();
    }

    private async injected(client: Client): Promise<void> {
      const outer = this.next(client, 'call');
      const sent = this.any(client);
      const headers = { 'x-request-id': outer.id };
      const answer = await client.post('/v1/tools/call', Senders.call(sent), headers);
      outer.status = answer.status;
      expect(answer.headers['x-request-id']).toBe(outer.id);
      this.check(sent, answer.json() as ToolAnswer);
    }
  }

  it.each([
    ['without extensions', []],
    ['with an extension that injects requests', [tools]],
  ])('each have their own id, caller, event and log lines %s', async (_what, extensions) => {
    const { logger, lines } = await fileLog();
    const env = { LOG_LEVEL: 'info' };
    const service = closing(await startService({ extensions, logger, env }));
    const clients = await clientsOf(service);
    const events: PetEvent[] = [];
    const emitter = service.store.app.get(EventEmitter2);
    emitter.on('pet.created', (event: PetEvent) => events.push(event));
    const senders = new Senders(service, clients, extensions.length > 0);
    while (senders.sent.size < REQUESTS) {
      await Promise.all(Array.from({ length: AT_ONCE / 4 }, () => senders.sendSome()));
    }
    const sent = [...senders.sent.values()];
    const finished = sent.filter(({ mayBeLost }) => !mayBeLost);
    // Every response has its line, and every pet its event.
    const lineOf = () => new Map(lines().map((line) => [line['requestId'], line]));
    const created = finished.filter(({ operation }) => operation === 'createPet');
    await eventually(() => {
      const seen = lineOf();
      const areHeard = created.every(({ id }) => events.some((each) => each.requestId === id));
      return Promise.resolve(areHeard && finished.every(({ id }) => seen.has(id)));
    });
    for (const { pet, requestId, clientId } of events) {
      expect(pet.name).toBe(petName(requestId!, clientId!));
    }
    expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(events.length);
    for (const line of lines().filter(({ requestId }) => senders.sent.has(String(requestId)))) {
      const { client, status } = senders.sent.get(String(line['requestId']))!;
      // A client that left may have gone before its key was looked up.
      const keyIds = status === undefined ? [client.keyId, undefined] : [client.keyId];
      expect([line['level'], keyIds]).toEqual(['info', expect.arrayContaining([line['keyId']])]);
      // A client that has its response may close the connection before the server is done.
      expect([status, undefined]).toContain(status && line['status']);
    }
    // The extension logs an error for code in a wrong context.
    expect(lines().filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('clients beside an extension that injects requests', () => {
  const { service, client } = useService({ extensions: [tools] });
  const CATEGORIES = 40;
  beforeAll(async () => {
    for (let index = 0; index < CATEGORIES; index++) {
      const pet = { name: `Rex ${index}`, categoryId: index, status: 'sold' };
      expect((await client.post('/v1/pets', pet)).status).toBe(201);
    }
  });

  const nextOf = (link: unknown): string | undefined => {
    const url = /<([^>]+)>; rel="next"/.exec(String(link))?.[1];
    return url && new URL(url).pathname + new URL(url).search;
  };

  it('iterate to the end of every list with the cursors that they get', async () => {
    const callers = await clientsOf(service);
    const agents = await clientsOf(service, 4);
    const load = startLoad([...agents, ...agents], (agent) => callTool(agent, listCall()));
    const iterate = async (caller: Client, query: string): Promise<number> => {
      let count = 0;
      let next: string | undefined = `/v1/pets?limit=3${query}`;
      while (next !== undefined) {
        const { status, text, headers } = await caller.get(next);
        expect({ next, status, text }).toMatchObject({ status: 200 });
        count += (JSON.parse(text) as object[]).length;
        next = nextOf(headers.link);
      }
      return count;
    };
    for (let round = 0; round < 3; round++) {
      const counts = callers.flatMap((caller) =>
        ['', '&status=sold', '', '&status=sold'].map((query) => iterate(caller, query)),
      );
      expect(new Set(await Promise.all(counts))).toEqual(new Set([CATEGORIES]));
    }
    await load.stop();
    expect(load.results.filter(({ status }) => status !== 200)).toEqual([]);
    expect(load.results.length).toBeGreaterThan(0);
  });

  it('use a cursor of an injected list over HTTP, and the reverse', async () => {
    const injected = await callTool(client, listCall());
    const direct = await client.get('/v1/pets?limit=5');
    const [fromInjected, fromDirect] = [injected, direct].map(({ headers }) =>
      nextOf(headers.link)!,
    );
    expect(fromInjected).toBe(fromDirect);
    const second = await client.get(fromInjected!);
    expect(second.status).toBe(200);
    expect((await callTool(client, listCall(fromDirect))).text).toBe(second.text);
  });

  it('lose no create beside an injected request in a transaction that is rolled back', async () => {
    const callers = await clientsOf(service);
    const agents = await clientsOf(service, 4);
    const load = startLoad([...agents, ...agents], (agent) =>
      callTool(agent, listCall(), 'call-and-roll-back'),
    );
    const create = async (caller: Client, number: number): Promise<string> => {
      const pet = { name: `Kept ${number}`, categoryId: 1 };
      const headers: Record<string, string> = {};
      if (number % 4 === 0) headers['idempotency-key'] = `kept-${number}`;
      const { status, text } = await caller.post('/v1/pets', pet, headers);
      expect({ status, text }).toMatchObject({ status: 201 });
      return text;
    };
    const acknowledged: string[] = [];
    for (let round = 0; round < 10; round++) {
      const creates = Array.from({ length: 2 * CALLERS }, (_, index) =>
        create(callers[index % CALLERS]!, index + round * 100),
      );
      acknowledged.push(...(await Promise.all(creates)));
    }
    await load.stop();
    expect(load.results.filter(({ status }) => status !== 200)).toEqual([]);
    expect(load.results.length).toBeGreaterThan(0);
    const ids = acknowledged.map((text) => (JSON.parse(text) as { id: number }).id);
    const kept = await Promise.all(ids.map((id) => client.get(`/v1/pets/${id}`)));
    expect(kept.map(({ text }) => text)).toEqual(acknowledged);
  });

  it('keep a create that is injected into a transaction that is rolled back', async () => {
    const body = JSON.stringify({ name: 'Kept', categoryId: 1 });
    const headers = { 'content-type': 'application/json' };
    const call = { method: 'POST', url: '/v1/pets', headers, body };
    const { status, text } = await callTool(client, call, 'start-and-roll-back');
    expect({ status, text }).toMatchObject({ status: 201 });
    const { id } = JSON.parse(text) as { id: number };
    expect((await client.get(`/v1/pets/${id}`)).text).toBe(text);
  });
});
