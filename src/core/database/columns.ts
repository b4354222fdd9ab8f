import { Column, type ColumnOptions, type ValueTransformer } from 'typeorm';

/** An int64 column. PostgreSQL's driver returns strings, SQLite's Numbers or BigInts. */
export const bigintColumn: ValueTransformer = {
  to: (value: bigint | null | undefined) => value?.toString() ?? value,
  from: (value: string | number | bigint | null) => (value === null ? null : BigInt(value)),
};

/** An int64 column of counts or Unix milliseconds, which a Number holds exactly. */
export const numberColumn: ValueTransformer = {
  to: (value: number | null | undefined) => value,
  from: (value: string | number | null) => (value === null ? null : Number(value)),
};

/** An int64 column of counts or Unix milliseconds, as a Number. */
export function Int64Column(options: ColumnOptions = {}): PropertyDecorator {
  return Column({ type: 'bigint', transformer: numberColumn, ...options });
}
