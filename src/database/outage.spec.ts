import {
  isBusy,
  isDatabaseOutage,
  isHeld,
  isOfAll,
  isOutage,
  isStale,
  noteOfConnection,
  noteOfOurs,
} from './outage.js';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe(isOutage.name, () => {
  it.each([
    'SQLITE_BUSY',
    'SQLITE_BUSY_SNAPSHOT',
    'SQLITE_IOERR_FSYNC',
    'SQLITE_FULL',
    'SQLITE_READONLY',
    'SQLITE_CANTOPEN',
    'SQLITE_CORRUPT',
    'SQLITE_NOTADB',
    'ECONNREFUSED',
    'ECONNRESET',
    'ETIMEDOUT',
    '08006',
    '40001',
    '53300',
    '57P01',
    '57014',
    '25006',
    '55P03',
    '28P01',
    '3D000',
  ])('takes %s for one', (code) => {
    expect(isOutage(withCode(code))).toBe(true);
    expect(isOutage({ driverError: withCode(code) })).toBe(true);
  });

  it('takes a socket of the file system that is gone for one, and no other file', () => {
    const gone = withCode('ENOENT');
    expect(isOutage(Object.assign(gone, { syscall: 'connect' }))).toBe(true);
    expect(isOutage(Object.assign(gone, { syscall: 'open' }))).toBe(false);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('takes "%s" of the driver for one', (message) => {
    expect(isOutage(new Error(message))).toBe(true);
  });

  it.each([withCode('SQLITE_CONSTRAINT'), withCode('23505'), withCode('22P02'), new Error('x')])(
    'takes no fault of the service for one: %p',
    (error) => expect(isOutage(error)).toBe(false),
  );

  it.each([undefined, null, 'text', 7])('takes %p for none', (error) => {
    expect(isOutage(error)).toBe(false);
  });
});

describe(isDatabaseOutage.name, () => {
  const away = () => Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' });

  it('takes an error of the network for one where it is of the database', () => {
    const noted = away();
    noteOfConnection(noted);
    expect(isDatabaseOutage(noted)).toBe(true);
    expect(isDatabaseOutage({ driverError: away() })).toBe(true);
  });

  it('takes that of something else that a guest asks for none', () => {
    expect(isDatabaseOutage(away())).toBe(false);
  });

  it('goes by what only databases say', () => {
    expect(['SQLITE_FULL', '57P01'].map((code) => isDatabaseOutage(withCode(code)))).toEqual([
      true,
      true,
    ]);
    expect(isDatabaseOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
  });
});

describe(noteOfOurs.name, () => {
  it('has a table that is missing taken for another database, but for those of guests', () => {
    const [ours, theirs, fault] = [withCode('42P01'), withCode('42P01'), withCode('23505')];
    noteOfOurs(ours);
    noteOfOurs(fault);
    expect([ours, theirs, fault].map(isOutage)).toEqual([true, false, false]);
  });
});

describe(isBusy.name, () => {
  it('knows a lock from everything else', () => {
    expect(isBusy(withCode('SQLITE_BUSY'))).toBe(true);
    expect(isBusy({ driverError: withCode('SQLITE_BUSY') })).toBe(true);
    expect(isBusy(withCode('SQLITE_FULL'))).toBe(false);
    expect(isBusy(new Error('busy'))).toBe(false);
  });
});

describe(isHeld.name, () => {
  it('knows a row that another unit of work holds', () => {
    expect(isHeld(withCode('55P03'))).toBe(true);
    expect(isHeld(withCode('57014'))).toBe(false);
    expect(isHeld(new Error('held'))).toBe(false);
  });
});

describe(isStale.name, () => {
  it.each(['0A000', '26000'])('takes %s for what was prepared before', (code) => {
    expect(isStale(withCode(code))).toBe(true);
    expect(isStale({ driverError: withCode(code) })).toBe(true);
  });

  it.each([withCode('42703'), withCode('57014'), new Error('x')])(
    'takes nothing else for it: %p',
    (error) => expect(isStale(error)).toBe(false),
  );
});

describe(isOfAll.name, () => {
  it('leaves out what one statement waited for', () => {
    const codes = ['57P01', 'SQLITE_FULL', '57014', '55P03', '40P01'];
    expect(codes.map((code) => isOfAll(withCode(code)))).toEqual([true, true, false, false, false]);
  });
});
