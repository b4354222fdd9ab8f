const CONTROL = /(?:BEGIN|START\s+TRANSACTION|COMMIT|END|ABORT|ROLLBACK|SAVEPOINT|RELEASE)\b/iy;

/**
 * For a statement outside of a transaction: one that begins there would be on a connection of all.
 * @throws {TransactionControlError} where it controls transactions
 */
export function assertNoControl(statement: string): void {
  CONTROL.lastIndex = firstWordOf(statement);
  if (CONTROL.test(statement)) throw new TransactionControlError(statement);
}

export class TransactionControlError extends Error {
  constructor(statement: string) {
    super(
      `Use startTransaction(), commitTransaction() and rollbackTransaction() instead of: ${statement}`,
    );
  }
}

/** Where it begins, behind blanks, comments and statements of nothing. */
function firstWordOf(statement: string): number {
  let at = 0;
  for (;;) {
    if (/[\s;]/.test(statement.charAt(at))) at++;
    else if (statement.startsWith('--', at)) at = endOfLine(statement, at);
    else if (statement.startsWith('/*', at)) at = endOfComment(statement, at);
    else return at;
  }
}

function endOfLine(statement: string, from: number): number {
  let at = from;
  while (at < statement.length && !/[\n\r]/.test(statement.charAt(at))) at++;
  return at;
}

/** PostgreSQL has comments within comments. */
function endOfComment(statement: string, from: number): number {
  const bounds = /\/\*|\*\//g;
  bounds.lastIndex = from;
  let depth = 0;
  do {
    const bound = bounds.exec(statement);
    if (bound === null) return statement.length;
    depth += bound[0] === '/*' ? 1 : -1;
  } while (depth > 0);
  return bounds.lastIndex;
}
