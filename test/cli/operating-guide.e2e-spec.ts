import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInProcess as run } from '../support/run-program.js';

const GUIDE = readFileSync('docs/operating.md', 'utf8');
const COMMANDS = [...GUIDE.matchAll(/^petstore .+$/gm)].map(([command]) => command);

/** Splits a command into words as a shell does. */
function wordsOf(command: string): string[] {
  return Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!);
}

describe('docs/operating.md', () => {
  const environment = { ...process.env };
  const directory = mkdtempSync(join(tmpdir(), 'petstore-operating-'));
  let keyId: string;
  beforeAll(async () => {
    Object.assign(process.env, {
      ...{ DATABASE_URL: `sqlite:${directory}/served.db`, PORT: '0', METRICS_PORT: '0' },
    });
    await run('migrate');
    const { out } = await run('keys', 'issue', '--name', 'City zoo', '--plan', 'free', '--json');
    keyId = (JSON.parse(out) as { id: string }).id;
  });
  afterAll(() => {
    process.env = environment;
    rmSync(directory, { recursive: true });
  });

  it('has commands', () => expect(COMMANDS.length).toBeGreaterThan(8));

  it.each(COMMANDS)('has a working command: %s', async (command) => {
    const [, ...argv] = wordsOf(command).map((word) =>
      word.replace('KEY_ID', keyId).replace('/var/backups', directory),
    );
    const { code, out, err } = await run(...argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).not.toBe('');
  });
});
