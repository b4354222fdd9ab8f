/** A column of a table, as a member of the API's JSON objects. */
export interface TableColumn {
  member: string;
  column: string;
  /** A `word` is a text without characters that JSON escapes. */
  type: 'int64' | 'text' | 'word';
  /** NULL in the column means that the object has no such member. */
  isOptional?: true;
}

/** The columns of an object, in the order of its members. The first one is never NULL. */
export type TableColumns = readonly TableColumn[];

/** A select list for PostgreSQL, whose driver gives an int64 as text. */
export function columnNames(columns: TableColumns): string {
  return columns.map(({ column }) => column).join(', ');
}

/** A select list for SQLite. Qualify the columns of ORDER BY: an alias would be sorted as text. */
export function columnsAsText(columns: TableColumns): string {
  return columns
    .map(({ column, type }) => (type === 'int64' ? `CAST(${column} AS text) AS ${column}` : column))
    .join(', ');
}

/** A row of these select lists. */
export type TextRow = Readonly<Record<string, string | null>>;

/** The object of a row: an int64 is a bigint, a member whose column is NULL is missing. */
export function membersOf<Dto>(columns: TableColumns, row: TextRow): Dto {
  const members: Record<string, string | bigint> = {};
  for (const { member, column, type } of columns) {
    const value = row[column];
    if (value !== null && value !== undefined) {
      members[member] = type === 'int64' ? BigInt(value) : value;
    }
  }
  return members as Dto;
}

export function postgresType({ type }: TableColumn): string {
  return type === 'int64' ? 'bigint' : 'text';
}

/**
 * An SQL expression of SQLite for the JSON text of a row. It has no CASE per optional member: a tree of those doubles
 * with each of them.
 */
export function jsonExpression(columns: TableColumns): string {
  const members = columns.map((each, index) => {
    const { column, type, isOptional } = each;
    // json_quote(NULL) is the text null. An expression with NULL is NULL.
    const quoted = isOptional ? `nullif(json_quote(${column}), 'null')` : `json_quote(${column})`;
    const value = { int64: column, text: quoted, word: `'"' || ${column} || '"'` }[type];
    const member = `'${label(each, index)}' || ${value}`;
    return isOptional ? `coalesce(${member}, '')` : member;
  });
  return `'{' || ${members.join(' || ')} || '}'`;
}

/** Converts a row of `columnNames()`, as an array, to its JSON text. */
export function jsonWriter(columns: TableColumns): (row: readonly (string | null)[]) => string {
  const labels = columns.map(label);
  return (row) => {
    let text = '{';
    for (let index = 0; index < columns.length; index++) {
      const value = row[index];
      if (value === null || value === undefined) continue;
      text += labels[index]! + (columns[index]!.type === 'int64' ? value : JSON.stringify(value));
    }
    return text + '}';
  };
}

function label({ member }: TableColumn, index: number): string {
  return `${index === 0 ? '' : ','}"${member}":`;
}
