import { Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { IsString } from 'class-validator';
import { defineExtension, Pet } from 'pet-store-service';
import { DataSource } from 'typeorm';

class HerdSettings {
  @IsString() herdName = 'Dolly';
}

@Injectable()
class Herd {
  readonly heard: string[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: HerdSettings,
  ) {}

  @OnEvent('pet.created')
  created(): void {
    this.heard.push('created');
  }

  async add(): Promise<string> {
    const { herdName } = this.settings;
    await this.dataSource.transaction((manager) =>
      manager.insert(Pet, { name: herdName, categoryId: 1n }),
    );
    return herdName;
  }
}

@Module({ providers: [Herd] })
class HerdModule {}

/** An extension with commands. */
export const herd = defineExtension({
  name: 'herd',
  compatibility: '^1.0.0',
  module: HerdModule,
  settings: HerdSettings,
  commands: [
    {
      name: 'herd',
      description: 'add a pet',
      async run(app, args) {
        const name = await app.get(Herd, { strict: false }).add();
        process.stdout.write(JSON.stringify({ name, args }));
      },
    },
    {
      name: 'wolf',
      description: 'fail',
      run: () => Promise.reject(new Error('the herd has gone')),
    },
  ],
});
