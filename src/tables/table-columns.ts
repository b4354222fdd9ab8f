import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { CursorKind } from '../input/cursor.js';

/** A column of a table, as a member of an entity and of JSON objects. */
export interface TableColumn {
  readonly member: string;
  readonly name: string;
  readonly kind: CursorKind;
  /** May be NULL: the member is then absent. */
  readonly isOptional: boolean;
  readonly isGenerated: boolean;
  /** Converts a value of the driver, or of JSON, to that of the entity. */
  readonly read: (value: unknown) => unknown;
}

const INTEGERS: readonly unknown[] = ['integer', 'int', 'int4', 'smallint', 'int2', Number];
const INT64S: readonly unknown[] = ['bigint', 'int8'];
const TEXTS: readonly unknown[] = ['varchar', 'character varying', 'text', String];

/** @throws {Error} for a column that a table gateway does not support */
export function columnsOf({ columns, name: entity }: EntityMetadata): TableColumn[] {
  return columns.map((column) => {
    const kind = kindOf(column);
    if (kind === undefined || column.isVirtual || column.embeddedMetadata || !column.isSelect) {
      throw new Error(
        `A table gateway does not support ${entity}.${column.propertyPath}; use a Repository`,
      );
    }
    return {
      member: column.propertyName,
      name: column.databaseName,
      kind,
      isOptional: column.isNullable,
      isGenerated: column.isGenerated,
      read: readerOf(column, kind),
    };
  });
}

/** An int64 needs a transformer, which makes it a bigint or a Number; other types have none. */
function kindOf({ type, transformer }: ColumnMetadata): CursorKind | undefined {
  if (INT64S.includes(type)) return transformer && 'int64';
  if (transformer !== undefined) return undefined;
  if (INTEGERS.includes(type)) return 'number';
  if (type === 'uuid') return 'uuid';
  return TEXTS.includes(type) ? 'text' : undefined;
}

function readerOf({ transformer }: ColumnMetadata, kind: CursorKind): TableColumn['read'] {
  if (kind === 'number') return Number;
  const [first] = [transformer ?? []].flat();
  return first === undefined ? (value) => value : (value) => first.from(value) as unknown;
}
