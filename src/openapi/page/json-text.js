const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indents JSON as text: `JSON.parse` would round an int64. Returns any other text unchanged. */
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
