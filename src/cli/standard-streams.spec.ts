import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { StandardStreams } from './standard-streams.js';

type Done = (error?: Error) => void;

/** A stream that writes when it is told to. */
function held(): { stream: Writable; pending: Done[] } {
  const pending: Done[] = [];
  const write = (_chunk: unknown, _encoding: unknown, done: Done) => void pending.push(done);
  return { stream: new Writable({ write }), pending };
}

describe(StandardStreams.name, () => {
  const failure = (code: string) => Object.assign(new Error(code), { code });

  it('waits until the slowest reader has taken everything', async () => {
    const [out, err] = [held(), held()];
    const streams = new StandardStreams(out.stream, err.stream);
    out.stream.write('a result');
    err.stream.write('a complaint');
    let isWritten = false;
    const written = streams.written(false).then((fault) => {
      isWritten = true;
      return fault;
    });
    for (const { pending } of [out, err]) {
      for (let turns = 0; turns < 5; turns++) await turn();
      expect(isWritten).toBe(false);
      for (let done = pending.shift(); done !== undefined; done = pending.shift()) {
        done();
        await turn();
      }
    }
    expect(await written).toBeUndefined();
  });

  it('takes a reader who has had enough for no failure', async () => {
    const { stream, pending } = held();
    const streams = new StandardStreams(stream, held().stream);
    stream.write('a result');
    stream.write('more of it');
    pending.shift()!(failure('EPIPE'));
    expect(await streams.written(false)).toBeUndefined();
  });

  it('takes it for one where nobody else will ever be told', async () => {
    const { stream, pending } = held();
    const streams = new StandardStreams(stream, held().stream);
    stream.write('a key');
    pending.shift()!(failure('EPIPE'));
    expect(await streams.written(true)).toMatchObject({ code: 'EPIPE' });
  });

  it('tells why a result cannot be written, and ends nobody', async () => {
    const full = failure('ENOSPC');
    const write = (_chunk: unknown, _encoding: unknown, done: Done) => done(full);
    const [out, err] = [new Writable({ write }), new Writable({ write })];
    const streams = new StandardStreams(out, err);
    out.write('a result');
    err.write('a complaint');
    expect(await streams.written(false)).toBe(full);
  });
});
