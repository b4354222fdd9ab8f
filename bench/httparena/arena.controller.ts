import { readFileSync } from 'node:fs';
import * as nest from '@nestjs/common';
import { Body, Get, Header, Param, ParseIntPipe, Post, Query, Res } from '@nestjs/common';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { Redis } from 'ioredis';
import { AcceptsBody, Database, errors, Public } from 'pet-store-service';

class Item {
  @IsOptional() @IsInt() id?: number;
  @IsString() name!: string;
  @IsOptional() @IsString() category?: string;
  @IsInt() price!: number;
  @IsInt() quantity!: number;
}

type Row = Record<string, unknown>;
function itemOf(row: Row | undefined, id: number): Row {
  if (row === undefined) throw errors.not_found(`There is no item ${id}`);
  const { rating_score: score, rating_count: count, ...item } = row;
  return { ...item, rating: { score, count } };
}

type Statement = Parameters<Database['query']>[0];
const named = (name: string, isBatched?: true) => (text: string) =>
  ({ name, sqlite: text, postgres: text, isBatched }) as Statement;
const COLUMNS = 'id, name, category, price, quantity, active, tags, rating_score, rating_count';
const SELECT = `SELECT ${COLUMNS} FROM items WHERE`;
const BY_PRICE = named('items.price')(`${SELECT} price BETWEEN $1 AND $2 LIMIT $3`);
const LIST = named('items.list')(`${SELECT} category = $1 ORDER BY id LIMIT $2 OFFSET $3`);
/** As in a `TableGateway`, the reads of one event-loop tick are one statement. */
const FIND = named(
  'items.find',
  true,
)(`SELECT found.*
  FROM unnest($1::bigint[]) WITH ORDINALITY AS input(id, ordinal) LEFT JOIN LATERAL
  (${SELECT} id = input.id LIMIT 1) found ON true ORDER BY ordinal`);
const UPSERT = named('items.upsert')(`
  INSERT INTO items (${COLUMNS}) VALUES ($1, $2, coalesce($3, 'test'), $4, $5, true, '[]', 0, 0)
  ON CONFLICT (id) DO UPDATE SET name = $2, price = $4, quantity = $5 RETURNING ${COLUMNS}`);
const UPDATE = named('items.update')(`
  UPDATE items SET name = $2, category = coalesce($3, category), price = $4, quantity = $5
  WHERE id = $1 RETURNING ${COLUMNS}`);

const Int = (name: string, value: number) =>
  Query(name, new nest.DefaultValuePipe(value), ParseIntPipe);
const limited = (limit: number) => Math.min(Math.max(limit, 1), 50);
type Reply = { header(name: string, value: string): void };
const { DATASET_PATH = '/data/dataset.json', REDIS_URL } = process.env;
const TTL_MS = 200;

@Public()
@nest.Controller()
export class ArenaController {
  private readonly dataset = JSON.parse(readFileSync(DATASET_PATH, 'utf8')) as Item[];
  private readonly cache = new Map<number, Row>();
  private readonly redis = REDIS_URL ? new Redis(REDIS_URL) : undefined;

  constructor(private readonly database: Database) {}

  @Get('baseline11')
  @Header('Content-Type', 'text/plain')
  sum(@Int('a', 0) a: number, @Int('b', 0) b: number): string {
    return String(a + b);
  }

  @Post('baseline11')
  @nest.HttpCode(200)
  @AcceptsBody('text/plain')
  @Header('Content-Type', 'text/plain')
  sumOfBody(@Int('a', 0) a: number, @Int('b', 0) b: number, @Body() body: Buffer): string {
    return String(a + b + Number(body));
  }

  @Get('json/:count')
  json(@Param('count', ParseIntPipe) count: number, @Int('m', 1) m: number) {
    const chosen = this.dataset.slice(0, count);
    const items = chosen.map((item) => ({ ...item, total: item.price * item.quantity * m }));
    return { items, count: items.length };
  }

  @Get('async-db')
  async db(@Int('min', 10) min: number, @Int('max', 50) max: number, @Int('limit', 50) n: number) {
    const rows = await this.database.query<Row>(BY_PRICE, min, max, limited(n));
    return { items: rows.map(itemOf), count: rows.length };
  }

  @Get('crud/items')
  async list(
    @Int('page', 1) page: number,
    @Int('limit', 10) n: number,
    @Query('category') category = 'electronics',
  ) {
    const limit = limited(n);
    const rows = await this.database.query<Row>(LIST, category, limit, (page - 1) * limit);
    return { items: rows.map(itemOf), total: rows.length, page, limit };
  }

  @Get('crud/items/:id')
  async find(@Param('id', ParseIntPipe) id: number, @Res({ passthrough: true }) reply: Reply) {
    const text = await this.redis?.get(`item:${id}`);
    const cached = text ? (JSON.parse(text) as Row) : this.cache.get(id);
    reply.header('X-Cache', cached ? 'HIT' : 'MISS');
    if (cached) return cached;
    const [row] = await this.database.query<Row>(FIND, id);
    const item = itemOf(row, id);
    if (this.redis) await this.redis.set(`item:${id}`, JSON.stringify(item), 'PX', TTL_MS);
    else this.cache.set(id, item);
    if (!this.redis) setTimeout(() => this.cache.delete(id), TTL_MS);
    return item;
  }

  @Post('crud/items')
  create(@Body('id', ParseIntPipe) id: number, @Body() item: Item) {
    return this.write(UPSERT, id, item);
  }

  @nest.Put('crud/items/:id')
  update(@Param('id', ParseIntPipe) id: number, @Body() item: Item) {
    return this.write(UPDATE, id, item);
  }

  private async write(statement: Statement, id: number, item: Item): Promise<Row> {
    const { name, category = null, price, quantity } = item;
    const [row] = await this.database.write<Row>(statement, id, name, category, price, quantity);
    this.cache.delete(id);
    await this.redis?.del(`item:${id}`);
    return itemOf(row, id);
  }
}
