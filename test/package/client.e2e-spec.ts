import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startService, type TestService } from '../support/start-service.js';
import { run } from '../support/build-client.js';

const ROOT = 'clients/typescript';
const CONSUMER = `
  import { PetStoreClient, PetStoreError, RateLimitError, toJSON, type Pet, type PetStatus } from 'pet-store-client';
  const store = new PetStoreClient({ baseUrl: 'http://localhost/v1', maxRetries: 2 });
  export async function use(): Promise<Pet[]> {
    const pet: Pet = await store.createPet({ name: 'Rex', categoryId: 7n }, { idempotencyKey: 'a' });
    const id: bigint = pet.id;
    const status: PetStatus | undefined = pet.status;
    const { data, response } = await store.getPet(id).withResponse();
    const orders = await store.request<{ id: bigint }[], { of: bigint }>('POST', '/x', { body: { of: id } });
    const left: number | undefined = store.rateLimit?.minute.remaining;
    const page: Pet[] = await store.listPets({ status });
    const all: Pet[] = await store.listPets().all({ limit: 5 });
    const json: string = toJSON([page, all]);
    if ((await store.listPets().catch((error: unknown) => error)) instanceof RateLimitError) return [];
    // @ts-expect-error A number may already be rounded.
    await store.createPet({ name: 'Rex', categoryId: 7 });
    // @ts-expect-error Unknown status.
    store.listPets({ status: 'gone' });
    for await (const pets of store.listPets({ status, pageSize: 2 }).pages()) return pets;
    throw new PetStoreError({ code: 'x', message: String([json, data, response.status, orders, left]), status: 1, requestId: '', retryAfterSeconds: 1 });
  }
`;

/** A project with the packed client installed, and no other file of the repository. */
function createProject(): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-consumer-'));
  const clone = join(directory, 'clone');
  cpSync('openapi.json', join(clone, 'openapi.json'));
  // Without dist/, so that the test fails unless `npm pack` builds it.
  const filter = (path: string) => !path.endsWith('/dist');
  cpSync(ROOT, join(clone, ROOT), { recursive: true, filter });
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'));
  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', `./${ROOT}`, '--pack-destination', directory], clone),
  ) as [{ filename: string }];
  rmSync(clone, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const installed = join(directory, 'node_modules/pet-store-client');
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', packed.filename, '-C', installed, '--strip-components=1'], directory);
  return directory;
}

describe('the package pet-store-client', () => {
  let directory: string;
  let service: TestService;
  beforeAll(async () => {
    directory = createProject();
    service = await startService();
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await service.close();
  });

  it('has no dependencies and no side effects', () => {
    const file = join(directory, 'node_modules/pet-store-client/package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    expect(manifest).toMatchObject({
      name: 'pet-store-client',
      type: 'module',
      sideEffects: false,
    });
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependencies).toBeUndefined();
  });

  it.each([
    ['Node', ['--module', 'NodeNext', '--lib', 'ES2022', '--types', 'node']],
    ['a bundler', ['--module', 'ESNext', '--moduleResolution', 'bundler', '--lib', 'ES2022,DOM']],
  ])('compiles in a strict project for %s, including its declarations', (_target, options) => {
    const file = join(directory, 'consumer.ts');
    writeFileSync(file, CONSUMER);
    const typeRoots = resolve('node_modules/@types');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const args = ['--ignoreConfig', '--noEmit', '--target', 'ES2022', '--typeRoots', typeRoots];
    run(process.execPath, [tsc, ...args, ...strict, ...options, file], directory);
  });

  it('works on Node 20, 22 and 24', () => {
    const output = run(process.execPath, ['scripts/client-on-nodes.mjs']);
    expect(output.match(/^Node (20|22|24)\.\S+: works$/gm)).toHaveLength(3);
  }, 300_000);

  const readme = readFileSync(`${ROOT}/README.md`, 'utf8');
  const examples = [...readme.matchAll(/<!-- example: (\w+) -->\n\n```ts\n(.*?)```/gs)];

  it('has seven examples', () => expect(examples).toHaveLength(7));

  it.each([
    ['create', /^Rex has the ID \d+$/m],
    ['list', /^Rex$.*^a page of \d+$.*^\d+ of the first page, \d+ in all$/ms],
    ['errors', /^400: name .* \(request .+\)$.*"code":"invalid_request"/ms],
    ['json', /^{"categoryId":9223372036854775807}$.*"categoryId":"9223372036854775807"/ms],
    ['usage', /^enterprise: \d+ of \d+ left today$.*^http.* is Leo$.*^\d+ left until 20/ms],
    ['key', /^Use \.\.\.\w{4} from now on; key_\w+ ends at \d{4}-\S+Z$/m],
    ['request', /^\d+ Rex$/m],
  ])('runs its example "%s"', async (name, output) => {
    const client = await service.client({ scopes: ['pets:read', 'pets:write', 'key:rotate'] });
    await client.post('/v1/pets', { name: 'Rex', categoryId: 7, status: 'available' });
    const [, , source] = examples.find(([, each]) => each === name)!;
    const baseUrl = `${service.origin}/v1`;
    const adapted = source!
      .replace('http://localhost:3000/v1', baseUrl)
      .replace('psk_...', client.key!);
    expect(adapted).not.toBe(source);
    const file = join(directory, `${name}.ts`);
    writeFileSync(file, adapted);
    const tsx = resolve('node_modules/tsx/dist/cli.mjs');
    // Not spawnSync: the service runs in this process.
    const { stdout } = await promisify(execFile)(process.execPath, [tsx, file], { cwd: directory });
    expect(stdout).toMatch(output);
  });
});
