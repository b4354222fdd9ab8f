import { assertNoControl, TransactionControlError } from './transaction-control.js';

describe(assertNoControl.name, () => {
  it.each([
    'BEGIN',
    ' start transaction',
    '/* app */ BEGIN',
    '-- app\nBEGIN',
    '-- app\r\n/**/;; ;COMMIT',
    '/* a /* b */ c */ ROLLBACK',
    '/***/END;',
    '/*/ a */SAVEPOINT a',
  ])('refuses %j', (statement) => {
    expect(() => assertNoControl(statement)).toThrow(TransactionControlError);
  });

  it.each([
    '',
    ';',
    '-- BEGIN',
    '/* BEGIN',
    '/* BEGIN */ SELECT 1',
    '/* /* */ BEGIN */ SELECT 1',
    'SELECT 1 -- \nBEGIN',
    'beginning',
    '-BEGIN',
    'start replication',
  ])('lets %j pass', (statement) => expect(() => assertNoControl(statement)).not.toThrow());

  it('takes time in proportion to the length of what comes before the first word', () => {
    const comment = '/* -- ; */ -- ; /*\n;'.repeat(100_000);
    expect(() => assertNoControl(`${comment}SELECT 1`)).not.toThrow();
    expect(() => assertNoControl(`${comment}BEGIN`)).toThrow(TransactionControlError);
  });
});
