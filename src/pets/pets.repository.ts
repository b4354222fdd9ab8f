import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import {
  findStatement,
  insertStatement,
  membersOf,
  pageStatement,
  type TableColumns,
  type TableRow,
} from '../database/table-statements.js';
import { IdempotencyService, type IdempotentRequest } from '../idempotency/idempotency.service.js';
import { insertOnceStatement } from '../idempotency/idempotency.statements.js';
import { parseOwnJson } from '../input/json.js';
import type { NewPet, PetDto } from './pet.dto.js';
import type { PetStatus } from './pet.entity.js';

/**
 * The columns that clients send, in the order in which responses contain them. A `word` needs no
 * JSON escaping.
 */
const SENT = [
  { member: 'name', column: 'name', type: 'text' },
  { member: 'categoryId', column: 'category_id', type: 'int64' },
  { member: 'status', column: 'status', type: 'word', isOptional: true },
] as const satisfies TableColumns;
const COLUMNS: TableColumns = [{ member: 'id', column: 'id', type: 'int64' }, ...SENT];

const PAGE = pageStatement('pets.page', 'pets', COLUMNS);
const PAGE_OF_STATUS = pageStatement('pets.page-of-status', 'pets', COLUMNS, ['status']);
const FIND = findStatement('pets.find', 'pets', COLUMNS);
const INSERT = insertStatement('pets.insert', 'pets', SENT);
const INSERT_ONCE = insertOnceStatement('pets.insert-once', 'pets', SENT);

/** @param text JSON that this repository or the database has built */
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
    const [row] = await this.database.query<TableRow>(FIND, id);
    return row && membersOf<PetDto>(COLUMNS, row);
  }

  /**
   * Responds with what was sent and the id. With `request`, the response is stored, and a repeat
   * inserts nothing.
   */
  async insert(
    pet: NewPet,
    request?: IdempotentRequest,
  ): Promise<{ pet: PetDto; replayed: boolean }> {
    const values = SENT.map(({ member }) => pet[member] ?? null);
    if (request === undefined) {
      const [row] = await this.database.write<{ id: string | bigint }>(INSERT, ...values);
      return { pet: { id: BigInt(row!.id), ...pet }, replayed: false };
    }
    const stored = await this.idempotency.insert(request, INSERT_ONCE, values, pet);
    return { pet: parsePet(stored.answer), replayed: stored.replayed };
  }
}
