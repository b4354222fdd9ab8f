import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1764720000000 implements MigrationInterface {
  readonly name = 'CreateOrders1764720000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE "store_orders" (
      "id" varchar(36) PRIMARY KEY NOT NULL,
      "pet_id" integer NOT NULL,
      "quantity" integer NOT NULL
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "store_orders"');
  }
}
