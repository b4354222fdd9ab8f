/**
 * Handles errors of standard output. A closed pipe (`| head`) ends a command quietly; any other error makes it
 * fail. A server goes on serving.
 */
export function handleWriteErrors(isServer: boolean): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isServer || code === 'EPIPE' || process.exitCode === 1) return;
    process.stderr.write(`error: cannot write to standard output (${message})\n`);
    process.exitCode = 1;
  });
}
