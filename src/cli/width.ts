/** What a terminal shows in two columns: East Asian wide characters, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
/** What it shows in none: accents on what is before, joiners, variants. */
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** With spaces behind it, up to that width. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Its beginning, where all of it is wider. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [left, kept] = [width - 1, ''];
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

function columnsOf(character: string): number {
  if (character < '\u0300') return 1;
  if (NONE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
