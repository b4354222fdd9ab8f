// The vocabulary of the files in data/: templates in requests, and expectations of responses.
import { parseExact } from './exact-json.js';

const TEMPLATE = /\{(pet|unknownKey|mainKey|unique|repeat:(.+?):(\d+))\}/g;
/** It has the form of a key, and is none. */
export const UNKNOWN_KEY = `psk_${'A'.repeat(43)}000000`;
export const STATUSES = ['available', 'pending', 'sold'];

/**
 * Replaces `{pet}` (the id of a pet), `{unknownKey}`, `{mainKey}`, `{unique}` (the same within a check) and
 * `{repeat:TEXT:COUNT}`.
 * @param {string} text
 * @param {{pet?: string, unique: string}} values
 */
export function expand(text, values) {
  return text.replace(TEMPLATE, (_all, name, repeated, count) => {
    if (repeated !== undefined) return repeated.repeat(Number(count));
    return name === 'unknownKey' ? UNKNOWN_KEY : values[name];
  });
}

/** Whether a value is a Pet of the specification. @returns a fault, or undefined */
export function faultOfPet(pet) {
  if (typeof pet !== 'object' || pet === null || Array.isArray(pet)) return 'a pet is no object';
  const { id, name, categoryId, status } = pet;
  if (typeof id !== 'bigint') return 'id is no integer';
  if (typeof name !== 'string') return 'name is no string';
  if (typeof categoryId !== 'bigint') return 'categoryId is no integer';
  if ('status' in pet && !STATUSES.includes(status)) return 'status is none of the three values';
  return undefined;
}

/** Whether the body is an Error of the specification. @returns a fault, or undefined */
export function faultOfError({ json, status }) {
  if (typeof json !== 'object' || json === null) return 'the body is no JSON object';
  if (typeof json.code !== 'string' || json.code === '') return 'code is no string';
  if (typeof json.message !== 'string' || json.message === '') return 'message is no string';
  if (json.status !== BigInt(status)) return `status is not ${status}`;
  return undefined;
}

const BODIES = {
  empty: ({ text }) => (text === '' ? undefined : 'there is a body'),
  pet: ({ json }) => faultOfPet(json),
  error: faultOfError,
  pets: ({ json }) =>
    Array.isArray(json) ? json.map(faultOfPet).find(Boolean) : 'the body is no array',
};

function faultOfHeader(exchange, name, wanted) {
  const values = exchange.values(name);
  if (wanted.absent === true) return values.length > 0 ? `${name} is present` : undefined;
  if (values.length !== 1) return `${name} is present ${values.length} times`;
  const [value] = values;
  if (typeof wanted === 'string') {
    return value === wanted ? undefined : `${name} is ${value}, not ${wanted}`;
  }
  if (wanted.pattern !== undefined && !new RegExp(wanted.pattern).test(value)) {
    return `${name} is ${value}, which does not match ${wanted.pattern}`;
  }
  const tokens = value.split(',').map((each) => each.trim());
  const missing = (wanted.tokens ?? []).filter((token) => !tokens.includes(token));
  return missing.length > 0 ? `${name} lacks ${missing.join(', ')}` : undefined;
}

/**
 * Compares a response with an expectation of a data file.
 * @param {import('./exchange.js').Exchange} exchange
 * @param {object} wanted `status`, `code`, `headers`, `body`, `members`, `everyMember`, `mentions`,
 *   `atMost`, `pattern`
 * @returns {string[]} faults
 */
export function faultsOf(exchange, wanted) {
  const faults = [];
  const add = (fault) => fault !== undefined && faults.push(fault);
  const { status, code, headers = {}, body, members = {}, mentions = [] } = wanted;
  if (status !== undefined && ![status].flat().includes(exchange.status)) {
    return [`expected status ${[status].flat().join(' or ')}, got ${exchange.status}`];
  }
  if (code !== undefined && exchange.code !== code) {
    add(`expected code ${code}, got ${String(exchange.code)}`);
  }
  for (const [name, value] of Object.entries(headers)) add(faultOfHeader(exchange, name, value));
  if (body !== undefined) add(BODIES[body](exchange));
  for (const [name, text] of Object.entries(members)) {
    const actual = exchange.json?.[name];
    const expected = text === null ? undefined : parseExact(text);
    if (actual !== expected) add(`${name} is ${show(actual)}, not ${text ?? 'absent'}`);
  }
  for (const [name, text] of Object.entries(wanted.everyMember ?? {})) {
    const others = exchange.pets.filter((pet) => pet[name] !== parseExact(text));
    if (others.length > 0) add(`${others.length} pets have another ${name} than ${text}`);
  }
  if (wanted.atMost !== undefined && exchange.pets.length > wanted.atMost) {
    add(`the list has ${exchange.pets.length} pets, more than ${wanted.atMost}`);
  }
  if (wanted.pattern !== undefined && !new RegExp(wanted.pattern, 'u').test(exchange.text)) {
    add(`the body does not match ${wanted.pattern}`);
  }
  const message = String(exchange.json?.message ?? '');
  for (const word of mentions) if (!message.includes(word)) add(`the message omits ${word}`);
  return faults;
}

function show(value) {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
