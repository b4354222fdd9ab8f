import { ConfigError } from '../config/config.js';
import { reportFailure } from './failure.js';
import { Output } from './output.js';

describe(reportFailure.name, () => {
  const complaintAbout = (error: unknown): string => {
    let said = '';
    const silent = () => {
      throw new Error('A failure is no result');
    };
    reportFailure(error, new Output(silent, (text) => void (said += text)));
    return said;
  };
  const failure = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });

  it.each([
    ['EADDRINUSE', /another program listens there; set PORT to a free one\n$/],
    ['EADDRNOTAVAIL', /set HOST to an address of this machine\n$/],
    ['EACCES', /this user may not; name another path, or see DATABASE_URL [^\n]*\n$/],
    ['ECONNREFUSED', /the database cannot be reached \(ECONNREFUSED\); see DATABASE_URL\n$/],
    ['ENOTFOUND', /the database cannot be reached \(ENOTFOUND\); see DATABASE_URL\n$/],
    ['ETIMEDOUT', /the database cannot be reached \(ETIMEDOUT\); see DATABASE_URL\n$/],
    ['EAI_AGAIN', /the database cannot be reached \(EAI_AGAIN\); see DATABASE_URL\n$/],
    ['28P01', /the database cannot be reached \(28P01: it failed\); see DATABASE_URL\n$/],
    ['3D000', /the database cannot be reached \(3D000: it failed\); see DATABASE_URL\n$/],
    ['SQLITE_NOTADB', /restore a backup \(petstore restore\), or see DATABASE_URL\n$/],
    ['SQLITE_CANTOPEN', /this user may not; name another path, or see DATABASE_URL [^\n]*\n$/],
    [
      'SQLITE_READONLY',
      /may not write it, or what is beside it; petstore doctor names the file\n$/,
    ],
    ['ERR_DLOPEN_FAILED', /npm rebuild better-sqlite3, with the Node.js that serves\n$/],
    ['EIO', /EIO: it failed\n$/],
  ])('tells what to do about %s in one line', (code, advice) => {
    expect(complaintAbout(failure(code))).toMatch(advice);
    expect(complaintAbout(failure(code))).toMatch(/^error: [^\n]+\n$/);
  });

  it('names no port for a path, and no path for a port', () => {
    const ofPort = Object.assign(failure('EACCES'), { syscall: 'listen' });
    expect(complaintAbout(ofPort)).toMatch(/set PORT to one from 1024 up\n$/);
    const ofPath = Object.assign(failure('EACCES'), { syscall: 'open', path: '/root/x.db' });
    expect(complaintAbout(ofPath)).not.toContain('PORT');
  });

  it('has something to say of a failure without words', () => {
    expect(complaintAbout(new Error(''))).toBe('error: Error\n');
  });

  it('names every fault of a configuration on a line of its own', () => {
    const { message } = new ConfigError(['PORT is wrong', 'HOST is wrong']);
    expect(complaintAbout(new ConfigError(['PORT is wrong', 'HOST is wrong']))).toBe(
      `${message}\n`,
    );
    expect(message).toMatch(/PORT is wrong\n[^\n]*HOST is wrong/);
  });
});
