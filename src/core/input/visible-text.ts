/** White space, format characters, fillers and the blank Braille pattern are invisible. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text has a character that readers see. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
