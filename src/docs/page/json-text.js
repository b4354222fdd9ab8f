/**
 * Indents JSON and keeps each number as it was sent: `JSON.parse` alone rounds an int64. Other
 * text, and any text in a browser without `JSON.rawJSON`, is returned unchanged.
 */
export function indentJson(text) {
  const keepNumber = (_key, value, { source }) =>
    typeof value === 'number' ? JSON.rawJSON(source) : value;
  try {
    return JSON.stringify(JSON.parse(text, keepNumber), null, 2);
  } catch {
    return text;
  }
}
