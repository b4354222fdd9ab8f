import { isJsonAnswer, isPagedAnswer } from './answers.js';

/** JSON text of any value, as `JSON.stringify` writes it; a BigInt is written with all of its digits. */
export function stringifyJson(value: unknown): string {
  return holdsBigInt(value) ? exactText(value) : JSON.stringify(value);
}

function holdsBigInt(value: unknown): boolean {
  if (typeof value === 'bigint' || isJsonAnswer(value) || isPagedAnswer(value)) return true;
  return isContainer(value) && Object.values(value).some(holdsBigInt);
}

function exactText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => exactText(item ?? null)).join(',')}]`;
  if (isJsonAnswer(value)) return value.text;
  if (isPagedAnswer(value)) return exactText(value.items);
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`);
  return `{${members.join(',')}}`;
}

/** An object that stands for its members, and not for itself as a Date does. */
function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
