import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

describe('npm run release -- --dry-run', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

  it('builds both tarballs, the bill of materials and the notes of the version', () => {
    execFileSync('npm', ['run', '--silent', 'release', '--', '--dry-run'], { stdio: 'pipe' });
    expect(readdirSync('release').sort()).toEqual([
      'RELEASE_NOTES.md',
      `pet-store-client-${version}.tgz`,
      `pet-store-service-${version}.tgz`,
      'sbom.cdx.json',
    ]);
    const notes = readFileSync('release/RELEASE_NOTES.md', 'utf8');
    expect(notes).toContain('`POST /v1/pets`');
    expect(notes).not.toMatch(/^## /m);
  });

  it('refuses a tag of another version', () => {
    const env = { ...process.env, GITHUB_REF_NAME: 'v0.0.1' };
    const run = () => execFileSync('node', ['scripts/release.mjs'], { env, stdio: 'pipe' });
    expect(run).toThrow(`the tag must be v${version}, but is v0.0.1`);
  });
});
