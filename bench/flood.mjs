// `node bench/flood.mjs [addresses]`: measures the memory of a server while many addresses fail to authenticate and the
// database cannot be written. Both the counters and the pending writes must be bounded.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { memoryMb } from './process.mjs';
import { root } from './settings.mjs';
import { freePort } from './stage.mjs';

const CONNECTIONS = 32;
const AT_ONCE = 50;
const WARM_UP = 100_000;
const addresses = Number(process.argv[2] ?? 600_000);
const port = await freePort();

const directory = mkdtempSync(join(tmpdir(), 'petstore-flood-'));
const file = join(directory, 'petstore.db');
const server = spawn(process.execPath, [`${root}dist/src/main.js`, 'serve', '--no-demo'], {
  cwd: directory,
  env: {
    PATH: process.env.PATH,
    DATABASE_URL: `sqlite:${file}`,
    LOG_LEVEL: 'error',
    METRICS_PORT: '0',
    NODE_ENV: 'production',
    PORT: String(port),
    TRUST_PROXY: '127.0.0.1',
  },
  stdio: ['ignore', 'inherit', 'inherit'],
});
try {
  while (!(await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => ({}))).ok)
    await wait(100);
  await flood(WARM_UP, () => '192.0.2.1');
  const before = memoryMb(server.pid);
  const lock = new Database(file);
  lock.exec('BEGIN IMMEDIATE');
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, memoryMb(server.pid))), 200);
  const began = performance.now();
  await flood(
    addresses,
    (index) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
  );
  const seconds = (performance.now() - began) / 1_000;
  clearInterval(timer);
  const after = memoryMb(server.pid);
  lock.close();
  const shown = [before, Math.max(most, after), after].map((mb) => `${Math.round(mb)} MB`);
  console.log(
    `${addresses} addresses in ${Math.round(seconds)} s, nothing saved: resident before ${shown[0]}, at most ${shown[1]}, at the end ${shown[2]}`,
  );
} finally {
  const ended = once(server, 'exit');
  server.kill();
  await ended;
  rmSync(directory, { recursive: true });
}

/** Sends `count` requests without a key, each from another address. */
async function flood(count, addressOf) {
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(port, '127.0.0.1').setNoDelay();
      let awaited = 0;
      let answered = () => undefined;
      socket.setEncoding('latin1').on('data', (text) => {
        awaited -= text.split('HTTP/1.1 4').length - 1;
        if (awaited <= 0) answered();
      });
      while (next < count) {
        const batch = Math.min(AT_ONCE, count - next);
        const texts = Array.from(
          { length: batch },
          () => `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${addressOf(next++)}\r\n\r\n`,
        );
        awaited = batch;
        const done = new Promise((resolve) => (answered = resolve));
        socket.write(texts.join(''));
        await done;
      }
      socket.destroy();
    }),
  );
}
