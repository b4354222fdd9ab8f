// Open-loop load generator: clients send requests at a fixed rate, whatever the server does, each on its own connection.
// After a 503, a client waits for Retry-After unless `waits` is false, and drops the requests of that time. Latency is
// measured from when a request was due. Argument: one JSON object, see `settings`. Prints one line of JSON.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * @type {{port: number, path: string, keyFile: string, callers: number, perSecond: number | null,
 *   warmUpSeconds: number, seconds: number, waits: boolean}}
 *   `perSecond`: of all clients together; null if each sends its next request at once
 */
const settings = JSON.parse(process.argv[2]);
const { port, path, callers, perSecond, waits } = settings;
const keys = readFileSync(settings.keyFile, 'utf8').split('\n');
const HEALTH_INTERVAL_MS = 20;
const TICK_MS = 1;
const OPENED_AT_ONCE = 100;
const OPENING_INTERVAL_MS = 50;
const SETTLING_MS = 500;
const END = Buffer.from('\r\n\r\n');

let [beganAt, countFrom, until] = [0, 0, Infinity];
const figures = { admitted: [], refused: [], health: [], failed: 0 };
/** Callers by the millisecond in which their next request is due. */
const due = new Map();

class Caller {
  constructor(name, target, key) {
    this.name = name;
    this.bytes = Buffer.from(
      `GET ${target} HTTP/1.1\r\nHost: x\r\n${key ? `Authorization: Bearer ${key}\r\n` : ''}\r\n`,
    );
  }

  open() {
    this.left = 0;
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      if (performance.now() > until) return;
      if (performance.now() > countFrom) figures.failed++;
      this.open();
      this.plan();
    });
  }

  ask(at) {
    this.dueAt = at;
    this.socket.write(this.bytes);
  }

  /** One request per connection is in progress at a time. */
  read(chunk) {
    let start = 0;
    if (this.left === 0) {
      const head = chunk.indexOf(END);
      const text = chunk.latin1Slice(0, head);
      this.status = Number(text.slice(9, 12));
      const length = Number(/content-length: (\d+)/i.exec(text)[1]);
      this.retryMs = this.status === 503 ? Number(/retry-after: (\d+)/i.exec(text)[1]) * 1000 : 0;
      start = head + END.length;
      this.left = length;
    }
    this.left -= chunk.length - start;
    if (this.left > 0) return;
    const now = performance.now();
    if (now > countFrom && now < until) this.record(now - this.dueAt);
    this.plan(now);
  }

  record(ms) {
    if (this.status === 503 && this.name !== 'health') figures.refused.push(ms);
    else if (this.status < 400) figures[this.name].push(ms);
    else figures.failed++;
  }

  plan(now = performance.now()) {
    if (this.name === 'health') return at(Math.max(this.dueAt + HEALTH_INTERVAL_MS, now), this);
    const pause = waits ? (this.retryMs ?? 0) : 0;
    if (perSecond === null && pause === 0) return this.ask(now);
    // Exponential intervals, as of independent clients.
    const gap =
      perSecond === null ? 0 : (-Math.log(1 - Math.random()) * callers * 1000) / perSecond;
    at(Math.max(now, Math.max(this.dueAt ?? now, now - TICK_MS) + gap) + pause, this);
  }
}

function at(ms, caller) {
  const tick = Math.ceil(ms - beganAt);
  caller.nextAt = ms;
  const those = due.get(tick);
  if (those === undefined) due.set(tick, [caller]);
  else those.push(caller);
}

let done = 0;
function tick() {
  const now = performance.now();
  const current = Math.floor(now - beganAt);
  for (; done <= current; done++) {
    for (const caller of due.get(done) ?? []) caller.ask(caller.nextAt);
    due.delete(done);
  }
  if (now < until) setTimeout(tick, TICK_MS);
  else report();
}

function report() {
  const of = (values) => {
    const sorted = values.sort((one, other) => one - other);
    const percentile = (share) => sorted[Math.floor(sorted.length * share)] ?? null;
    return {
      perSecond: sorted.length / settings.seconds,
      p50Ms: percentile(0.5),
      p99Ms: percentile(0.99),
    };
  };
  const { admitted, refused, health, failed } = figures;
  const [one, other, third] = [of(admitted), of(refused), of(health)];
  console.log(JSON.stringify({ admitted: one, refused: other, health: third, failed }));
  process.exit(0);
}

const all = Array.from(
  { length: callers },
  (_none, index) => new Caller('admitted', path, keys[index % keys.length]),
);
const prober = new Caller('health', '/health/live');

/** Opens the connections in steps, before the load: Node accepts one connection per event-loop tick. */
async function open() {
  for (let index = 0; index < callers; index += OPENED_AT_ONCE) {
    for (const caller of all.slice(index, index + OPENED_AT_ONCE)) caller.open();
    await wait(OPENING_INTERVAL_MS);
  }
  prober.open();
  await wait(SETTLING_MS);
}

await open();
beganAt = performance.now();
countFrom = beganAt + settings.warmUpSeconds * 1000;
until = countFrom + settings.seconds * 1000;
for (const caller of [prober, ...all]) {
  caller.dueAt = beganAt;
  if (perSecond === null && caller !== prober) caller.ask(beganAt);
  else caller.plan(beganAt);
}
setTimeout(tick, TICK_MS);
