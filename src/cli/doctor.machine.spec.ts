import { EventEmitter } from 'node:events';
import net from 'node:net';
import { loadConfig } from '../config/config.js';
import { examinePorts } from './doctor.machine.js';

describe(examinePorts.name, () => {
  afterEach(() => jest.restoreAllMocks());

  /** Of a port on which listening fails so. */
  async function cureOf(code: string): Promise<string | null> {
    jest.spyOn(net, 'createServer').mockImplementation(() => {
      const server = new EventEmitter();
      const listen = () => void server.emit('error', Object.assign(new Error(code), { code }));
      return Object.assign(server, { listen }) as unknown as net.Server;
    });
    const [finding] = await examinePorts(loadConfig({ PORT: '80', METRICS_PORT: '0' }));
    return finding!.cure;
  }

  it.each([
    ['EADDRNOTAVAIL', 'set HOST to an address of this machine'],
    ['ENOTFOUND', 'set HOST to an address of this machine'],
    ['EAI_AGAIN', 'set HOST to an address of this machine'],
    ['EACCES', 'set PORT to a port from 1024 up: this user may listen on no other'],
    ['EADDRINUSE', 'set PORT to a free port'],
  ])('knows a cure of %s', async (code, cure) => {
    expect(await cureOf(code)).toBe(cure);
  });

  it('finds that a HOST does not resolve', async () => {
    const [finding] = await examinePorts(loadConfig({ HOST: '[::1]', METRICS_PORT: '0' }));
    expect(finding).toMatchObject({
      detail: expect.stringContaining('ENOTFOUND'),
      cure: 'set HOST to an address of this machine',
    });
  });
});
