import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Get, HttpCode, Module, Post } from '@nestjs/common';
import { eventually } from '../support/eventually.js';
import { exchange, parseAnswers } from '../support/raw-answers.js';
import { startService, type TestService } from '../support/start-service.js';
import { AnyScope } from '../../src/index.js';

/** Tells what was begun, and answers when it is let. */
class Gate {
  begun = 0;
  private readonly waiting: (() => void)[] = [];

  pass(): Promise<void> {
    this.begun++;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  open(): void {
    this.waiting.shift()?.();
  }
}

function gated(gate: Gate) {
  @AnyScope()
  @Controller('gate')
  class GateController {
    @Get()
    async get(): Promise<object> {
      await gate.pass();
      return {};
    }

    @Post()
    @HttpCode(200)
    async post(): Promise<object> {
      await gate.pass();
      return {};
    }
  }
  @Module({ controllers: [GateController] })
  class GateModule {}
  return { module: GateModule };
}

describe('pipelined requests', () => {
  const rex = '{"name":"Rex","categoryId":7}';
  const isBegun = (gate: Gate, count: number) =>
    eventually(() => Promise.resolve(gate.begun === count));

  async function start(gate = new Gate()): Promise<TestService & { head: string }> {
    const service = await startService({ extensions: [gated(gate)] });
    const { key } = await service.client();
    return { ...service, head: ` HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` };
  }

  function open({ origin }: TestService): Socket & Disposable {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
  }

  it('are answered in their order, whatever their bodies look like', async () => {
    await using service = await start();
    const { head } = service;
    const spaced = `{"name":"a",\r\n\r\n"categoryId":7}`;
    const chunked = (body: string) =>
      `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nX: y\r\n\r\n`;
    const create = `POST /v1/pets${head}Content-Type: application/json\r\n`;
    const round = [
      [`GET /v1/pets?limit=1${head}\r\n`, 200],
      [`${create}Content-Length: ${rex.length}\r\n\r\n${rex}`, 201],
      [`${create}Content-Length: ${spaced.length}\r\n\r\n${spaced}`, 201],
      [`${create}${chunked(rex)}`, 201],
      [`${create}${chunked(spaced)}`, 201],
      [`${create}Content-Length: 4\r\n\r\n\r\n\r\n`, 400],
      [`GET /v1/pets/%zz${head}\r\n`, 400],
    ] as const;
    const rounds = Array.from({ length: 4 }, () => round).flat();
    const end = `GET /v1/pets?limit=1${head}Connection: close\r\n\r\n`;
    const bytes = Buffer.from(rounds.map(([text]) => text).join('') + end);
    const half = bytes.length >> 1;
    for (const parts of [[bytes], [bytes.subarray(0, half), bytes.subarray(half)]]) {
      const answers = parseAnswers(await exchange(service.origin, parts));
      const statuses = [...rounds.map(([, status]) => status), 200];
      expect(answers.map(({ status }) => status)).toEqual(statuses);
    }
  });

  it('are not carried out behind an answer that closes the connection', async () => {
    const gate = new Gate();
    await using service = await start(gate);
    const { head } = service;
    using first = open(service);
    using second = open(service);
    const request = `POST /v1/gate${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    first.write(request);
    await isBegun(gate, 1);
    second.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(second, 'data');
    // While it drains, every answer closes its connection.
    const closing = service.store.close();
    second.resume().write(request.repeat(3));
    await isBegun(gate, 2);
    gate.open();
    gate.open();
    await once(second, 'close');
    first.destroy();
    await closing;
    expect(gate.begun).toBe(2);
  });
});
