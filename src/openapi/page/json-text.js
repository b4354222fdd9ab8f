const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Indents JSON as text, so that each number stays as it was sent: JSON.parse would round an int64.
 * What is no JSON comes back as it is.
 */
export function indentJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let out = '';
  let depth = 0;
  let opened = false;
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(TOKENS)) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    if (opened !== closes) out += newLine();
    out += token === ':' ? ': ' : token;
    opened = token === '{' || token === '[';
    if (opened) depth++;
    if (token === ',') out += newLine();
  }
  return out;
}
