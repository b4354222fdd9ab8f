import type { IncomingMessage } from 'node:http';
import { requestIdOf } from './request.js';

describe(requestIdOf.name, () => {
  const idOf = (sent?: string) =>
    requestIdOf({
      headers: sent === undefined ? {} : { 'x-request-id': sent },
    } as unknown as IncomingMessage);

  it.each(['a', 'A.b_c-9', 'x'.repeat(128)])('keeps %p', (id) => {
    expect(idOf(id)).toBe(id);
  });

  it.each([
    undefined,
    '',
    'x'.repeat(129),
    'a b',
    'a,b',
    'a\n{"level":"fatal"}',
    'a\n',
    '\u001b[31m',
    'é',
    '<script>',
    '"',
    'psk_x',
    'request-psa_x',
  ])('replaces %p', (id) => {
    const fresh = idOf(id);
    expect(fresh).toMatch(/^[0-9a-f-]{36}$/);
    expect(idOf(id)).not.toBe(fresh);
  });
});
