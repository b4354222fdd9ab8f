import type { Dialect } from './statement.js';

export const SQLITE: Dialect = {
  nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  elements: (array, name) => `json_each(${array}) AS ${name}`,
  members: (object) => `(SELECT key AS name, value FROM json_each(${object}))`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  locksRows: false,
  skipLocked: () => '',
};

export const POSTGRES: Dialect = {
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  elements: (array, name) => `json_array_elements(CAST(${array} AS json)) AS ${name}(value)`,
  members: (object) => `(SELECT key AS name, CAST(value AS bigint) AS value
    FROM json_each_text(CAST(${object} AS json)))`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  locksRows: true,
  skipLocked: (table) => `FOR UPDATE OF ${table} SKIP LOCKED`,
};
