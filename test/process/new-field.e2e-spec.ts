import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '../support/client.js';
import { cloneOfRepository } from '../support/clone.js';
import { applyEdit, blocksOf } from '../support/guide-edits.js';
import { Workplace } from '../support/petstore-process.js';

/** Applies the edits of the example in CONTRIBUTING.md. @returns the files */
function applyExample(directory: string): string[] {
  const guide = readFileSync('CONTRIBUTING.md', 'utf8');
  const [, example = ''] = /\n## Example: add a breed to Pet\n(.*?)\n## /s.exec(guide) ?? [];
  return blocksOf(example).map((block) => applyEdit(block, directory));
}

it('a new field of Pet and its filter take the edits of CONTRIBUTING.md, and no others', async () => {
  using copy = cloneOfRepository();
  expect(applyExample(copy.path)).toEqual([
    'src/pets/pet.entity.ts',
    'src/pets/pet.dto.ts',
    'src/pets/pet.dto.ts',
    'src/pets/migrations/1780000000000-add-breed.ts',
    'src/pets/migrations/index.ts',
    'src/pets/pet.dto.ts',
    'src/pets/pets.service.ts',
  ]);
  execFileSync(process.execPath, [join(copy.path, 'scripts/build.mjs')], { stdio: 'pipe' });

  using workplace = new Workplace({}, join(copy.path, 'dist/src/main.js'));
  const { migrations } = await workplace.json('migrate');
  expect(migrations).toContain('AddBreed1780000000000 of pets');
  const issue = 'keys issue --name breeds --plan pro'.split(' ');
  const { key } = await workplace.json(...issue);
  const served = await workplace.serve();
  const client = new Client(served.origin, key);
  const rex = { name: 'Rex', categoryId: 7, status: 'sold', breed: 'Shar "Pei"' };
  const luna = { name: 'Luna', categoryId: 7 };
  const ofRex = { 'idempotency-key': 'rex' };
  expect((await client.post('/v1/pets', rex, ofRex)).json()).toEqual({ id: 1, ...rex });
  expect((await client.post('/v1/pets', rex, ofRex)).json()).toEqual({ id: 1, ...rex });
  expect((await client.post('/v1/pets', luna)).json()).toEqual({ id: 2, ...luna });
  const pets = (await client.get('/v1/pets')).json();
  expect(pets).toEqual([
    { id: 1, ...rex },
    { id: 2, ...luna },
  ]);
  expect((await client.get('/v1/pets/1')).json()).toEqual({ id: 1, ...rex });
  expect((await client.get('/v1/pets/2')).json()).toEqual({ id: 2, ...luna });
  expect((await client.get('/v1/pets?breed=Shar%20%22Pei%22')).json()).toEqual([{ id: 1, ...rex }]);
  expect((await client.get('/v1/pets?breed=Beagle&status=sold')).json()).toEqual([]);
  const wrong = await client.post('/v1/pets', { ...luna, breed: '' });
  expect(wrong.json().message).toBe('breed must be a string of 1 to 64 printable characters');
  const { components } = (await client.get('/openapi.json')).json();
  expect(components.schemas.Pet.properties.breed).toMatchObject({ type: 'string' });
  client.close();
  expect(await served.stop()).toBe(0);
});
