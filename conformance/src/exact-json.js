// JSON.parse rounds integers above 2^53. Here an integer becomes a bigint, read from its text.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = '\u0000number:';
const INTEGER = /^-?\d+$/;

/**
 * Parses JSON without loss.
 * @param {string} text
 * @returns {unknown} integers as bigint, other numbers as number
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseExact(text) {
  JSON.parse(text);
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') ? token : JSON.stringify(MARK + token),
  );
  return JSON.parse(marked, (_name, value) => {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
    const number = value.slice(MARK.length);
    return INTEGER.test(number) ? BigInt(number) : Number(number);
  });
}
