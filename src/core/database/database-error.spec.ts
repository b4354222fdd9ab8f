import { QueryFailedError } from 'typeorm';
import { isConnectionLost, isOutage } from './database-error.js';

const withCode = (code: string) => Object.assign(new Error('x'), { code });

describe(isOutage.name, () => {
  it.each([
    ...['SQLITE_BUSY_SNAPSHOT', 'SQLITE_IOERR_FSYNC', 'SQLITE_FULL', 'SQLITE_READONLY'],
    ...['SQLITE_CANTOPEN', 'SQLITE_CORRUPT', 'SQLITE_NOTADB'],
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOENT', 'CERT_HAS_EXPIRED'],
    ...['08006', '40001', '53300', '57P01', '57014', '25006', '25P03', '55P03', '28P01', '3D000'],
  ])('includes %s', (code) => {
    expect(isOutage({ driverError: withCode(code) })).toBe(true);
  });

  it.each([
    'Connection terminated unexpectedly',
    'timeout exceeded when trying to connect',
    'Query read timeout',
  ])('includes "%s" of the driver', (message) => {
    expect(isOutage(new Error(message))).toBe(true);
  });

  it('includes an error of the network only if it comes from the database', () => {
    const away = Object.assign(withCode('ECONNREFUSED'), { syscall: 'connect' });
    expect(isOutage(new QueryFailedError('', [], away))).toBe(true);
    expect(isOutage(away)).toBe(false);
    expect(['SQLITE_FULL', '57P01'].map((code) => isOutage(withCode(code)))).toEqual([true, true]);
  });

  it.each([
    ...[withCode('SQLITE_CONSTRAINT'), withCode('23505'), withCode('42P01'), new Error('x')],
    ...[undefined, null, 'text', 7],
  ])('excludes a fault of the service: %p', (error) => expect(isOutage(error)).toBe(false));
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
