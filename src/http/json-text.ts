import { isJsonAnswer, isPagedAnswer } from './answers.js';

/** JSON text of any value, as `JSON.stringify` writes it; a BigInt is written with all of its digits. */
export function stringifyJson(value: unknown): string {
  return holdsBigInt(value) ? exactText(standInOf(value)) : JSON.stringify(value);
}

function holdsBigInt(value: unknown): boolean {
  if (value instanceof Date) return false;
  const standIn = standInOf(value);
  if (typeof standIn === 'bigint' || isJsonAnswer(standIn) || isPagedAnswer(standIn)) return true;
  return isContainer(standIn) && Object.values(standIn).some(holdsBigInt);
}

/** Of an object, `JSON.stringify` leaves these out. */
const UNWRITTEN = new Set(['undefined', 'function', 'symbol']);

/** @param value which stands for itself */
function exactText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) {
    return `[${value.map((item) => exactText(standInOf(item) ?? null)).join(',')}]`;
  }
  if (isJsonAnswer(value)) return value.text;
  if (isPagedAnswer(value)) return exactText(value.items);
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .map(([name, member]) => [name, standInOf(member)] as const)
    .filter(([, member]) => !UNWRITTEN.has(typeof member))
    .map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`);
  return `{${members.join(',')}}`;
}

/** What a value says by `toJSON` that it stands for; what that is stands for itself, as for `JSON.stringify`. */
function standInOf(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const speaker = value as { toJSON?: () => unknown };
  return typeof speaker.toJSON === 'function' ? speaker.toJSON() : value;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
