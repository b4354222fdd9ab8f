import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { bigintColumn, numberColumn } from '../database/columns.js';
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

/**
 * The columns of a table, the primary key first.
 * @throws {Error} for a column that a table gateway does not support
 */
export function columnsOf({
  columns,
  primaryColumns,
  name: entity,
}: EntityMetadata): TableColumn[] {
  const others = columns.filter(({ isPrimary }) => !isPrimary);
  return [...primaryColumns, ...others].map((column) => {
    const kind = kindOf(column);
    const isPlain = !column.isVirtual && !column.embeddedMetadata && column.isSelect;
    // An insert has a value for each column, so that a default would have no effect.
    const isDefault = column.default !== undefined || (column.isGenerated && !column.isPrimary);
    if (kind === undefined || !isPlain || isDefault) {
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

/** An int64 has one of the service's transformers; other types have none. */
function kindOf({ type, transformer }: ColumnMetadata): CursorKind | undefined {
  const isExact = transformer === bigintColumn || transformer === numberColumn;
  if (INT64S.includes(type)) return isExact ? 'int64' : undefined;
  if (transformer !== undefined) return undefined;
  if (INTEGERS.includes(type)) return 'number';
  if (type === 'uuid') return 'uuid';
  return TEXTS.includes(type) ? 'text' : undefined;
}

function readerOf({ transformer }: ColumnMetadata, kind: CursorKind): TableColumn['read'] {
  if (kind === 'number' || transformer === numberColumn) return Number;
  return kind === 'int64' ? bigintColumn.from.bind(bigintColumn) : (value) => value;
}
