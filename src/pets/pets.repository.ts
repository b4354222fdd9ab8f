import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../database/database.js';
import { insertStatement } from '../database/insert-statement.js';
import {
  columnNames,
  columnsAsText,
  jsonExpression,
  jsonWriter,
  membersOf,
  type TableColumns,
  type TextRow,
} from '../database/table-columns.js';
import { IdempotencyService, type IdempotentRequest } from '../idempotency/idempotency.service.js';
import { insertOnceStatement } from '../idempotency/idempotency.statements.js';
import { parseOwnJson } from '../input/json.js';
import type { NewPet, PetDto } from './pet.dto.js';
import type { PetStatus } from './pet.entity.js';

/** The columns of a pet that a caller sends, in the order of the members of a response. */
const SENT = [
  { member: 'name', column: 'name', type: 'text' },
  { member: 'categoryId', column: 'category_id', type: 'int64' },
  { member: 'status', column: 'status', type: 'word', isOptional: true },
] as const satisfies TableColumns;
const COLUMNS: TableColumns = [{ member: 'id', column: 'id', type: 'int64' }, ...SENT];

const PAGE = page('pets.page', 'id > $1 ORDER BY id LIMIT $2');
const PAGE_OF_STATUS = page('pets.page-of-status', 'status = $1 AND id > $2 ORDER BY id LIMIT $3');
const FIND: Statement = {
  name: 'pets.find',
  sqlite: `SELECT ${columnsAsText(COLUMNS)} FROM pets WHERE pets.id = $1`,
  postgres: `SELECT ${columnNames(COLUMNS)} FROM pets WHERE id = $1`,
};
const INSERT = insertStatement('pets.insert', 'pets', SENT);
const INSERT_ONCE = insertOnceStatement('pets.insert-once', 'pets', SENT);

function page(name: string, condition: string): Statement {
  const from = `FROM pets WHERE ${condition}`;
  return {
    name,
    json: jsonWriter(COLUMNS),
    sqlite: `SELECT ${jsonExpression(COLUMNS)} ${from}`,
    postgres: `SELECT ${columnNames(COLUMNS)} ${from}`,
  };
}

/** @param text JSON that this repository or the database has written */
export function parsePet(text: string): PetDto {
  const pet = parseOwnJson(text) as PetDto;
  return { ...pet, id: BigInt(pet.id) };
}

@Injectable()
export class PetsRepository {
  constructor(
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
  ) {}

  /** Pets as JSON texts, in the order of their ids. */
  page(status: PetStatus | undefined, after: bigint, count: number): Promise<string[]> {
    return status === undefined
      ? this.database.query(PAGE, after, count)
      : this.database.query(PAGE_OF_STATUS, status, after, count);
  }

  async find(id: bigint): Promise<PetDto | undefined> {
    const [row] = await this.database.query<TextRow>(FIND, id);
    return row && membersOf<PetDto>(COLUMNS, row);
  }

  /** @param request with one, the response is stored for its repeats, and a repeat inserts nothing */
  async insert(
    pet: NewPet,
    request?: IdempotentRequest,
  ): Promise<{ pet: PetDto; replayed: boolean }> {
    const values = SENT.map(({ member }) => pet[member] ?? null);
    const members = Object.fromEntries(
      SENT.flatMap(({ member }) => (pet[member] === undefined ? [] : [[member, pet[member]]])),
    );
    if (request === undefined) {
      const [row] = await this.database.write<{ id: string }>(INSERT, ...values);
      return { pet: { id: BigInt(row!.id), ...members } as PetDto, replayed: false };
    }
    const stored = await this.idempotency.insert(request, INSERT_ONCE, values, members);
    return { pet: parsePet(stored.answer), replayed: stored.replayed };
  }
}
