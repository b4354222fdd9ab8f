import { isVisible } from '../input/visible-text.js';
import { KEY_FORM } from './api-key-format.js';

export const MAX_NAME_LENGTH = 255;

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Whether a text can name a key: 1 to 255 printable characters that do not contain a key, at least
 * one of them visible.
 */
export function isKeyName(text: string): boolean {
  const isPrintable = isVisible(text) && !UNPRINTABLE.test(text) && text.isWellFormed();
  return isPrintable && [...text].length <= MAX_NAME_LENGTH && !KEY_FORM.test(text);
}

/** Parses an ISO 8601 date, or a time with its zone; returns Unix milliseconds. */
export function parseTime(text: string): number | undefined {
  const [, date] = ISO_8601.exec(text) ?? [];
  const unixMs = Date.parse(text);
  // Date.parse() reads 30 February as 2 March.
  return date && unixMs > 0 && new Date(date).toISOString().startsWith(date) ? unixMs : undefined;
}
