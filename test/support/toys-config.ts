import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Writes a configuration file with an extension whose tables have every kind of column, a foreign
 * key to the same table, one to a later table, a trigger, and a row that its migration inserts.
 */
export function writeToysConfig(file: string): void {
  writeFileSync(file, TOYS.replace('NEST', resolve('node_modules/@nestjs/common')));
}

const TOYS = `
const { Module } = require('NEST');
class ToysModule {}
Module({})(ToysModule);
class CreateToys1764720000000 {
  name = 'CreateToys1764720000000';
  async up(runner) {
    const isPostgres = runner.dataSource.options.type === 'postgres';
    const [id, time, bytes, json, list, code] = isPostgres
      ? ['bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY', 'timestamptz', 'bytea', 'jsonb', 'text[]', 'varchar(4)']
      : ['integer PRIMARY KEY AUTOINCREMENT NOT NULL', 'datetime', 'blob', 'text', 'text', 'varchar(4)'];
    const later = isPostgres ? '' : ' REFERENCES "boxes" ("id")';
    await runner.query('CREATE TABLE "a_toys" ("id" ' + id + ', "parent" bigint REFERENCES "a_toys" ("id"), ' +
      '"box" bigint' + later + ', "sold" boolean NOT NULL, "at" ' + time + ', "photo" ' + bytes + ', ' +
      '"tags" ' + list + ', "more" ' + json + ', "price" numeric(10, 2), "weight" double precision, ' +
      '"code" ' + code + ', "half" bigint GENERATED ALWAYS AS ("box" / 2) STORED)');
    await runner.query('CREATE TABLE "boxes" ("id" bigint PRIMARY KEY NOT NULL, "name" varchar(20))');
    if (isPostgres) {
      await runner.query('ALTER TABLE "a_toys" ADD FOREIGN KEY ("box") REFERENCES "boxes" ("id")');
      await runner.query('CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS ' +
        "'BEGIN INSERT INTO boxes VALUES (1000 + NEW.id, ''triggered''); RETURN NEW; END'");
      await runner.query('CREATE TRIGGER note AFTER INSERT ON a_toys FOR EACH ROW EXECUTE FUNCTION note()');
    } else {
      await runner.query('CREATE TRIGGER note AFTER INSERT ON a_toys BEGIN ' +
        "INSERT INTO boxes VALUES (1000 + NEW.id, 'triggered'); END");
    }
    await runner.query("INSERT INTO boxes VALUES (1, 'default')");
  }
}
const toys = { name: 'toys', module: ToysModule, migrations: [CreateToys1764720000000] };
module.exports = { __esModule: true, default: { extensions: [toys] } };
`;
