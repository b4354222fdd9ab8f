// Sends requests at a constant rate, whether or not earlier ones have been answered (an open loop).
// Requests that are due are sent on idle connections; if all are busy, a request waits for one. Its
// latency counts from when it was due, so a stall of the server counts for every request of it.
// autocannon, hey and wrk measure otherwise: they wait for a response before the next request.
// Argument: one JSON object, see `load.mjs`. Prints a histogram: requests by latency in 10 µs.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const settings = JSON.parse(process.argv[2]);
const { port, work, path, pets, perSecond } = settings;
const keys = readFileSync(settings.keyFile, 'utf8').split('\n');
/** A prime, so that it has no common divisor with the number of keys or pets. */
const STEP = 7919;
const TICK_MS = 1;
const SETTLING_MS = 200;
const DRAIN_MS = 30_000;
const STEPS_PER_MS = 100;
const HEAD_END = Buffer.from('\r\n\r\n');

let sent = 0;
let due = 0;
let beganAt = 0;
let countFrom = 0;
const histogram = new Uint32Array((settings.seconds * 1000 + DRAIN_MS) * STEPS_PER_MS);
const idle = [];
/** When the requests that wait for a connection were due. */
const waiting = [];

function requestOf(number) {
  const head = `Host: x\r\nAuthorization: Bearer ${keys[(number * STEP) % keys.length]}\r\n`;
  if (work === 'list') return `GET ${path} HTTP/1.1\r\n${head}\r\n`;
  const id = ((number * STEP) % pets) + 1;
  if (work === 'get') return `GET ${path}${id} HTTP/1.1\r\n${head}\r\n`;
  const body = `{"name":"Rex ${number}","categoryId":7,"status":"available"}`;
  const content = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${head}${content}\r\n${body}`;
}

/** One request is in progress at a time. */
class Connection {
  constructor() {
    this.left = 0;
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', ({ message }) => fail(message));
    this.socket.on('close', () => fail('the server closed a connection'));
  }

  send(dueAt) {
    this.dueAt = dueAt;
    this.socket.write(requestOf(sent++));
  }

  /** A head is never split: it is shorter than a segment. */
  read(chunk) {
    let start = 0;
    if (this.left === 0) {
      const end = chunk.indexOf(HEAD_END);
      const head = chunk.latin1Slice(0, end);
      if (!head.startsWith('HTTP/1.1 20')) fail(head);
      start = end + HEAD_END.length;
      this.left = Number(/content-length: (\d+)/i.exec(head)[1]);
    }
    this.left -= chunk.length - start;
    if (this.left > 0) return;
    if (this.dueAt >= countFrom) {
      histogram[Math.round((performance.now() - this.dueAt) * STEPS_PER_MS)]++;
    }
    if (waiting.length > 0) this.send(waiting.shift());
    else idle.push(this);
  }
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

function tick() {
  const now = performance.now();
  const ends = countFrom + settings.seconds * 1000;
  if (now < ends) {
    const dueByNow = Math.floor(((now - beganAt) / 1000) * perSecond);
    for (; due < dueByNow; due++) {
      if (idle.length > 0) idle.shift().send(now);
      else waiting.push(now);
    }
  } else if (idle.length === settings.connections) {
    return report();
  } else if (now > ends + DRAIN_MS) {
    fail('the server does not keep up');
  }
  setTimeout(tick, TICK_MS);
}

function report() {
  const counts = {};
  for (const [step, count] of histogram.entries()) if (count > 0) counts[step] = count;
  process.stdout.write(JSON.stringify(counts), () => process.exit(0));
}

for (let count = 0; count < settings.connections; count++) idle.push(new Connection());
setTimeout(() => {
  beganAt = performance.now();
  countFrom = beganAt + settings.warmUpSeconds * 1000;
  tick();
}, SETTLING_MS);
