/** White space, format characters, noncharacters, and characters without a glyph are invisible. */
const INVISIBLE =
  /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufffc]|[\u{13441}\u{13442}]|\u{16fe4}|\u{1d159}/gu;

/** Whether a text has a character that readers see. */
export function isVisible(text: string): boolean {
  return text.replace(INVISIBLE, '') !== '';
}
