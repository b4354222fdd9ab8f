import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { bigintColumn, numberColumn } from '../database/columns.js';
import type { CursorKind } from '../input/cursor.js';

/** A column of a table: a member of its entity and of JSON objects. */
export interface TableColumn {
  readonly member: string;
  readonly name: string;
  readonly kind: CursorKind;
  readonly isGenerated: boolean;
  /** Converts a value of the driver, or of JSON, to the entity's type. */
  readonly read: (value: unknown) => unknown;
}

const INTEGERS: readonly unknown[] = ['integer', 'int', 'int4', 'smallint', 'int2', Number];
const INT64S: readonly unknown[] = ['bigint', 'int8'];
const TEXTS: readonly unknown[] = ['varchar', 'character varying', 'text', String];

type Reason = [reason: string, applies: (column: ColumnMetadata) => unknown];

/** Why a table gateway does not honour a column. */
const REASONS: readonly Reason[] = [
  ['is set by a Repository only', (c) => c.isCreateDate || c.isUpdateDate || c.isVersion],
  ['hides rows in a Repository only', (c) => c.isDeleteDate],
  ['is not a member of the entity: declare the column itself', (c) => c.isVirtual],
  ['is part of an embedded entity', (c) => c.embeddedMetadata],
  ['has a default, but an insert sets every column', (c) => (c.default ?? null) !== null],
  ['is generated, but not the primary key', (c) => c.isGenerated && !c.isPrimary],
  ['is computed', (c) => c.isVirtualProperty || c.asExpression],
  ['has the option select: false or insert: false', (c) => !(c.isSelect && c.isInsert)],
  ['is an array', (c) => c.isArray],
  ['has an unsupported type or transformer', (c) => kindOf(c) === undefined],
];

/**
 * The columns of a table, the primary key first.
 * @throws {Error} that lists everything about the entity that a table gateway does not honour
 */
export function columnsOf(metadata: EntityMetadata): TableColumn[] {
  const { columns, primaryColumns, name: entity } = metadata;
  const ofColumns = columns.flatMap((column) => {
    const [reason] = REASONS.find(([, applies]) => applies(column)) ?? [];
    return reason === undefined ? [] : [`the column ${nameOf(column)} ${reason}`];
  });
  const faults = [...faultsOf(metadata), ...ofColumns];
  if (faults.length > 0) {
    throw new Error(
      `A TableGateway cannot be used for the entity ${entity}: ${faults.join('; ')}. ` +
        `Use a Repository of ${entity}`,
    );
  }
  const others = columns.filter(({ isPrimary }) => !isPrimary);
  return [...primaryColumns, ...others].map((column) => ({
    member: column.propertyName,
    name: column.databaseName,
    kind: kindOf(column)!,
    isGenerated: column.isGenerated,
    read: readerOf(column),
  }));
}

function nameOf({ propertyPath, databaseName }: ColumnMetadata): string {
  return propertyPath === databaseName ? propertyPath : `${propertyPath} ("${databaseName}")`;
}

function faultsOf(metadata: EntityMetadata): string[] {
  const { schema, primaryColumns, listeners, eagerRelations, relationIds } = metadata;
  const isInherited = metadata.discriminatorColumn ?? metadata.parentEntityMetadata;
  const subscribers = metadata.dataSource.subscribers.filter(
    (subscriber) => subscriber.listenTo?.() === metadata.target,
  );
  return [
    ...(schema ? ['it has a schema'] : []),
    ...(primaryColumns.length === 1 ? [] : ['it needs one primary column']),
    ...(isInherited ? ['it uses table inheritance'] : []),
    ...listeners.map(({ propertyName }) => `${propertyName}() is a listener`),
    ...subscribers.map((subscriber) => `${subscriber.constructor.name} subscribes to it`),
    ...eagerRelations.map(({ propertyPath }) => `the relation ${propertyPath} is eager`),
    ...relationIds.map(({ propertyName }) => `${propertyName} is a @RelationId()`),
  ];
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

function readerOf(column: ColumnMetadata): TableColumn['read'] {
  const kind = kindOf(column);
  if (kind === 'number' || column.transformer === numberColumn) return Number;
  return kind === 'int64' ? bigintColumn.from.bind(bigintColumn) : (value) => value;
}
