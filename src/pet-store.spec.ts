import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import { eventually } from '../test/support/eventually.js';
import { startService, type TestService } from '../test/support/start-service.js';
import { Public } from './index.js';
import { PetStore } from './pet-store.js';

const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
const SLOW = LIVE.replace('health/live', 'slow');

describe(PetStore.name, () => {
  let finish: (() => void) | undefined;
  @Public()
  @Controller('slow')
  class SlowController {
    @Get()
    get(): Promise<string> {
      return new Promise((resolve) => (finish = () => resolve('done')));
    }
  }
  @Module({ controllers: [SlowController] })
  class SlowModule {}

  const open = ({ origin }: TestService, text: string): { socket: Socket; text: () => string } => {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString())).write(text);
    return { socket, text: () => received };
  };

  it('closes: answers every accepted request, and announces the end of a connection in its last response', async () => {
    await using service = await startService({ extensions: [{ module: SlowModule }] });
    const [busy, idle] = [open(service, SLOW + LIVE.repeat(2)), open(service, LIVE)];
    await eventually(() => Promise.resolve(finish !== undefined && idle.text() !== ''));
    const closed = service.close();
    await once(idle.socket, 'close');
    finish!();
    await once(busy.socket, 'close');
    expect(busy.text().match(/(?<=HTTP\/1.1 )\d+|(?<=^connection: ).*/gim)).toEqual([
      '200',
      'keep-alive',
      '200',
      'keep-alive',
      '200',
      'close',
    ]);
    await closed;
  });
});
