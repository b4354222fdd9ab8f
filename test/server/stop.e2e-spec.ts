import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

// The real program, on a machine that may be busy.
jest.setTimeout(180_000);
const WAITING = 40;

/** After SIGUSR2, the process blocks until the file `go` exists. */
const STOPPABLE = `
import { existsSync, writeFileSync } from 'node:fs';
process.on('SIGUSR2', () => {
  writeFileSync('stands-' + process.pid, '');
  while (!existsSync('go'));
});
export default { extensions: [] };
`;

describe('petstore serve, told to stop', () => {
  it('answers whoever has connected before', async () => {
    using workplace = new Workplace({ LOG_FORMAT: 'json', SHUTDOWN_GRACE_SECONDS: '60' });
    workplace.write('package.json', '{ "type": "module" }');
    workplace.write('petstore.config.js', STOPPABLE);
    const server = await workplace.serve();
    const { key } = await workplace.json('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
    process.kill(server.pid, 'SIGUSR2');
    const stands = join(workplace.directory, `stands-${server.pid}`);
    await eventually(() => Promise.resolve(existsSync(stands)));

    const { port } = new URL(server.origin);
    const request =
      'GET /v1/pets?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
      `Authorization: Bearer ${key}\r\n\r\n`;
    const sockets = Array.from({ length: WAITING }, () => connect(Number(port), '127.0.0.1'));
    const answers = sockets.map(async (socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', (error) => (text += error.message));
      await new Promise((closed) => socket.once('close', closed));
      return text;
    });
    await Promise.all(
      sockets.map(async (socket) => {
        await once(socket, 'connect');
        await new Promise((sent) => socket.write(request, sent));
      }),
    );
    const ended = server.stop();
    workplace.write('go', '');
    for (const text of await Promise.all(answers)) expect(text).toMatch(/^HTTP\/1.1 200 /);
    expect(await ended).toBe(0);
  });
});
