import { EventEmitter } from 'node:events';
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config/config.js';
import { examineFiles, examinePorts } from './doctor.machine.js';

describe(examineFiles.name, () => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-doctor-'));
  const path = join(directory, 'petstore.db');
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => rmSync(directory, { recursive: true }));

  it('has who owns a file that cannot be written let himself in, and anybody else be given it', () => {
    writeFileSync(path, '', { mode: 0o400 });
    // To root every file is open.
    jest.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw new Error('EACCES');
    });
    const user = jest.spyOn(process, 'getuid');
    const cureFor = (uid: number): string | null => {
      user.mockReturnValue(uid);
      const findings = examineFiles(loadConfig({ DATABASE_URL: `sqlite:${path}` }));
      return findings.find(({ detail }) => detail === `${path} cannot be written`)!.cure;
    };
    const owner = fs.statSync(path).uid;
    expect(cureFor(owner)).toBe(`chmod 600 ${path}`);
    expect(cureFor(owner + 1)).toBe('chown it to the user that serves');
  });
});

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
