import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadExtensions } from './petstore-config.js';

describe(loadExtensions.name, () => {
  const home = process.cwd();
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-config-'));
    process.chdir(directory);
  });
  afterEach(() => {
    process.chdir(home);
    rmSync(directory, { recursive: true });
  });

  /** Loads a file with this default export. */
  function load(value: string, name = 'petstore.config.js') {
    writeFileSync(name, `module.exports = { __esModule: true, default: ${value} }`);
    return loadExtensions({});
  }

  it('needs no file', async () => {
    expect(await loadExtensions({})).toEqual({ extensions: [] });
  });

  it('does not accept an empty file', async () => {
    writeFileSync('petstore.config.js', '');
    await expect(loadExtensions({})).rejects.toThrow(
      'petstore.config.js must have "export default defineConfig(',
    );
  });

  it('accepts plans without extensions', async () => {
    const plans = { team: { perMinute: 6, perDay: 60 } };
    expect(await load(JSON.stringify({ plans }))).toMatchObject({ extensions: [], plans });
  });

  it.each(['js', 'mjs'])('reads petstore.config.%s', async (ending) => {
    const file = `petstore.config.${ending}`;
    expect(await load('{ extensions: [] }', file)).toMatchObject({
      file: expect.stringContaining(file),
    });
  });

  it.each(['ts', 'mts', 'cjs', 'json', 'yaml'])(
    'says that petstore.config.%s is not read, unless it is beside a file that is',
    async (ending) => {
      const name = `petstore.config.${ending}`;
      await expect(load('{ extensions: [] }', name)).rejects.toThrow(
        `${name} is not read: only .js and .mjs are`,
      );
      await expect(loadExtensions({ config: name })).rejects.toThrow(`${name} is not read`);
      expect(await load('{ extensions: [] }')).toMatchObject({ extensions: [] });
    },
  );

  it('fails for a link to a file that is missing', async () => {
    symlinkSync('none.js', 'petstore.config.mjs');
    await expect(loadExtensions({})).rejects.toThrow('petstore.config.mjs does not exist');
  });

  it('does not choose between two files', async () => {
    writeFileSync('petstore.config.mjs', '');
    await expect(load('{ extensions: [] }')).rejects.toThrow(
      'there are petstore.config.js and petstore.config.mjs: remove one of them',
    );
  });

  it.each([
    ['{ plan: {} }', 'petstore.config.js: plan is not a known member'],
    ['{ plans: [] }', 'petstore.config.js: plans must be an object'],
    ['{ extensions: {} }', 'petstore.config.js: extensions must be an array'],
    ['{}', 'petstore.config.js must have "export default defineConfig('],
    ['() => ({})', 'petstore.config.js must have "export default defineConfig('],
    ['null', 'petstore.config.js must have "export default defineConfig('],
    ['[]', 'petstore.config.js must have "export default defineConfig('],
    ['{ extensions: null }', 'extensions must be an array'],
    ['{ plans: null }', 'plans must be an object'],
    [
      '{ plans: { team: { perMinute: 1, perDay: 2, perHour: 3 } } }',
      'plan "team": perHour is not a known member',
    ],
    [
      '{ plans: { enterprise: { perMinute: 1, perDay: 2 } } }',
      'plan "enterprise": its limits are set for each key',
    ],
    [
      "{ extensions: [{ name: 'toys', module: class {}, migration: [] }] }",
      'extension toys: migration is not a known member',
    ],
    ["{ extensions: [{ name: 'toys' }] }", 'extension toys: module must be a class or'],
    [
      "{ extensions: [1, 2].map(() => ({ name: 'toys', module: class {} })) }",
      'extension toys is declared twice: by number 1 and by number 2',
    ],
  ])('rejects %s with one line', async (value, line) => {
    const error = await load(value).catch((caught: unknown) => caught as Error);
    expect((error as Error).message).toContain(line);
    expect((error as Error).message).not.toContain('\n');
  });
});
