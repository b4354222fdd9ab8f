import type { ValueTransformer } from 'typeorm';

/** int64 on both engines: PostgreSQL's driver gives strings, SQLite's Numbers or BigInts. */
export const bigintColumn: ValueTransformer = {
  to: (value: bigint | null | undefined) => value?.toString() ?? value,
  from: (value: string | number | bigint | null) => (value === null ? null : BigInt(value)),
};

/** A count or a Unix time in milliseconds, which a Number holds exactly, in an int64 column. */
export const numberColumn: ValueTransformer = {
  to: (value: number | null | undefined) => value,
  from: (value: string | number | null) => (value === null ? null : Number(value)),
};
