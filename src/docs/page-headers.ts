/**
 * The headers of a page. It loads from its own origin only, and cannot be framed.
 * @param origins further ones that its scripts may call
 */
export function pageHeaders(origins: readonly string[] = []) {
  const called = ["'self'", ...origins].join(' ');
  return {
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      `connect-src ${called}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  };
}
