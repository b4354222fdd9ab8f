import { isConnectionLost, isDatabaseOutage, isOutage, OutageError } from './outage.js';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe(isOutage.name, () => {
  it.each([
    ...['SQLITE_BUSY_SNAPSHOT', 'SQLITE_IOERR_FSYNC', 'SQLITE_FULL', 'SQLITE_READONLY'],
    ...['SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_NOTADB'],
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT'],
    ...['08006', '40001', '53300', '57P01', '57014', '25006', '25P03', '55P03', '28P01', '3D000'],
  ])('includes %s', (code) => {
    expect(isOutage(withCode(code))).toBe(true);
    expect(isOutage({ driverError: withCode(code) })).toBe(true);
  });

  it('includes a socket of the file system that is gone, and no other file', () => {
    const gone = withCode('ENOENT');
    expect(isOutage(Object.assign(gone, { syscall: 'connect' }))).toBe(true);
    expect(isOutage(Object.assign(gone, { syscall: 'open' }))).toBe(false);
  });

  it.each([
    'Connection terminated unexpectedly',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('includes "%s" of the driver', (message) => {
    expect(isOutage(new Error(message))).toBe(true);
  });

  it.each([
    ...[withCode('SQLITE_CONSTRAINT'), withCode('23505'), withCode('42P01'), new Error('x')],
    ...[undefined, null, 'text', 7],
  ])('excludes a fault of the service: %p', (error) => expect(isOutage(error)).toBe(false));
});

describe(isDatabaseOutage.name, () => {
  const away = () => Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' });

  it('includes an error of the network if it comes from the database', () => {
    expect(isDatabaseOutage(new OutageError(away()))).toBe(true);
    expect(isDatabaseOutage({ driverError: away() })).toBe(true);
    expect(isDatabaseOutage(away())).toBe(false);
  });

  it('includes errors that only databases report', () => {
    const errors = [...['SQLITE_FULL', '57P01'].map(withCode), new Error('Connection terminated')];
    expect(errors.map(isDatabaseOutage)).toEqual([true, true, true]);
  });
});

describe(isConnectionLost.name, () => {
  it('excludes statements that were only slow', () => {
    const errors = [
      withCode('57P01'),
      withCode('ECONNRESET'),
      withCode('57014'),
      new Error('Query read timeout'),
    ];
    expect(errors.map(isConnectionLost)).toEqual([true, true, false, false]);
  });
});
