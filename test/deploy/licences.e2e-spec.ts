import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function check(licenses: object[]): { status: number | null; stderr: string } {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-licences-'));
  try {
    const file = join(directory, 'sbom.json');
    writeFileSync(
      file,
      JSON.stringify({ components: [{ name: 'p', version: '1.0.0', licenses }] }),
    );
    return spawnSync(process.execPath, ['scripts/check-licences.mjs', file], { encoding: 'utf8' });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

describe('the licences of what is shipped', () => {
  it.each([[{ license: { id: 'MIT' } }], [{ expression: '(WTFPL OR MIT)' }]])(
    'takes %j',
    (licence) => {
      expect(check([licence]).status).toBe(0);
    },
  );

  it.each([
    [[{ license: { id: 'GPL-3.0-only' } }]],
    [[{ expression: 'MIT AND AGPL-3.0-only' }]],
    [[{ license: { name: 'See the file' } }]],
    [[]],
  ])('refuses %j, and names the package', (licences) => {
    const { status, stderr } = check(licences);
    expect(status).toBe(1);
    expect(stderr).toContain('p@1.0.0');
  });
});
