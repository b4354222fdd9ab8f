import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withBuiltIn } from '../built-in.js';
import { ConfigError } from '../core/config/config.js';
import { ExplainedError } from '../core/config/fixes.js';
import type { Extension } from '../extensions/define.js';
import { explain, reportFailure } from './failure.js';
import { Output } from './output.js';

const HERE = { databaseUrl: 'sqlite:p.db' };
const ON_POSTGRES = { databaseUrl: 'postgres://127.0.0.1/p' };
const toys: Extension = { name: 'toys', module: class {} };

/** An error of the system, with a stack that ends in the given lines. */
function failure(code: string, frames: string[] = [], message = `${code}: it failed`) {
  const stack = [`Error: ${message}`, '    at f (node:net:1:2)', ...frames].join('\n');
  return Object.assign(new Error(message), { code, stack });
}

function report(error: unknown): string {
  let written = '';
  const never = () => {
    throw new Error('an error is not a result');
  };
  reportFailure(error, new Output(never, (text) => (written += text)));
  return written;
}

describe(explain.name, () => {
  const line = (error: unknown, extensions = [toys], here = HERE) =>
    report(explain(error, here, extensions));

  it.each([
    'ECONNRESET',
    'EADDRINUSE',
    'ENOTFOUND',
    'EACCES',
    'SQLITE_FULL',
    '42501',
    'ERR_DLOPEN_FAILED',
  ])('names the extension with %s that is not of the service, and no setting', (code) => {
    const own = ['    at async serve (', resolve('src/cli/serve.ts'), ':1:2)'].join('');
    const theirs = '    at async Orders.onModuleInit (file:///shop/orders.js:3:4)';
    for (const frames of [[], [own], [theirs, own]]) {
      for (const here of [HERE, ON_POSTGRES]) {
        const text = line(failure(code, frames), [toys], here);
        expect(text).toBe(`error: extension toys: ${code}: it failed\n`);
      }
    }
    const food = { ...toys, name: 'food' };
    expect(line(failure(code), withBuiltIn([toys, food]))).toMatch(
      /^error: extension toys or food: /,
    );
  });

  it('names the extension that registers a metric twice', () => {
    const own = `    at Metrics.counter (${resolve('src/core/telemetry/metrics.ts')}:1:2)`;
    const theirs = '    at new Orders (file:///shop/orders.js:3:4)';
    expect(line(failure('', [own, theirs], 'It has already been registered.'))).toBe(
      'error: extension toys: It has already been registered.\n',
    );
  });

  it('adds the fix to an error of the database of the service', () => {
    const frame = `    at SqliteDatabase.query (${resolve('src/core/database/sqlite/x.ts')}:1:2)`;
    expect(line(failure('SQLITE_FULL', [frame]))).toBe(
      'error: SQLITE_FULL: it failed; free space on the disk of p.db\n',
    );
  });

  it('leaves explained errors, and errors without extensions, as they are', () => {
    for (const error of [new ExplainedError('a', 'b'), new ConfigError(['a'])]) {
      expect(explain(error, HERE, [toys])).toBe(error);
    }
    expect(line(failure('ENOTFOUND'), [])).toBe('error: ENOTFOUND: it failed\n');
  });
});

describe(reportFailure.name, () => {
  it.each([
    [
      Object.assign(new TypeError('x is undefined'), {
        stack:
          'TypeError: x is undefined\n    at of (node:fs:1:2)\n    at Orders.start (/shop/a.js:3:4)',
      }),
      /^error: TypeError: x is undefined at Orders.start \(\/shop\/a.js:3:4\)\n$/,
    ],
    [
      new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND nowhere') }),
      /^error: fetch failed: getaddrinfo ENOTFOUND nowhere\n$/,
    ],
    [
      new TypeError('fetch failed', {
        cause: new AggregateError([new Error('connect ECONNREFUSED ::1:9')]),
      }),
      /^error: fetch failed: connect ECONNREFUSED ::1:9\n$/,
    ],
    [failure('EIO'), /^error: EIO: it failed\n$/],
    [new Error(''), /^error: Error\n$/],
    ['a text', /^error: a text\n$/],
    [undefined, /^error: undefined\n$/],
  ])('explains %s in one line', (error, line) => {
    expect(report(error)).toMatch(line);
    expect(report(error)).toMatch(/^error: [^\n]+\n$/);
  });

  it('prints the message of an argument that a command does not know', () => {
    const parse = () => parseArgs({ args: ['--foo'], options: {} });
    let error: unknown;
    try {
      parse();
    } catch (caught) {
      error = caught;
    }
    expect(report(error)).toMatch(/^error: Unknown option '--foo'[^\n]*\n$/);
    expect(report(error)).not.toContain(' at ');
  });

  it('prints each fault of the configuration and of extensions on its own line', () => {
    const lines = 'error: PORT is wrong\nerror: HOST is wrong\n';
    expect(report(new ConfigError(['PORT is wrong', 'HOST is wrong']))).toBe(lines);
  });
});
