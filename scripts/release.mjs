// Builds everything that a release consists of in release/: the tarballs, the software bill of
// materials and the release notes. `npm run release -- --dry-run` does the same without requiring
// the tag. Uploading is left to .github/workflows/release.yml.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}release`;
const isDryRun = process.argv.includes('--dry-run');

const npm = (...args) => execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
const packageOf = (path) => JSON.parse(readFileSync(`${root}${path}package.json`, 'utf8'));

function fail(message) {
  process.stderr.write(`release: ${message}\n`);
  process.exit(1);
}

/** The section of the changelog for a version, without its heading. */
function notesOf(version) {
  const sections = readFileSync(`${root}CHANGELOG.md`, 'utf8').split(/^## /m);
  const section = sections.find((each) => each.startsWith(version));
  if (section === undefined) fail(`CHANGELOG.md has no section for ${version}; add one`);
  const [heading, ...lines] = section.split('\n');
  if (!isDryRun && heading.includes('unreleased')) {
    fail(`CHANGELOG.md calls ${version} unreleased; replace the word with the date`);
  }
  return `${lines.join('\n').trim()}\n`;
}

const { name, version } = packageOf('');
for (const path of ['clients/typescript/', 'conformance/']) {
  const other = packageOf(path);
  if (other.version === version) continue;
  fail(`${other.name} has version ${other.version}, ${name} has ${version}; run npm version`);
}
const tag = process.env.GITHUB_REF_NAME;
if (!isDryRun && tag !== `v${version}`) fail(`the tag must be v${version}, but is ${tag}`);

const notes = notesOf(version);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
npm('run', '--silent', 'build');
npm('pack', '--silent', '--pack-destination', folder);
npm('pack', './clients/typescript', '--silent', '--pack-destination', folder);
npm('pack', './conformance', '--silent', '--pack-destination', folder);
npm('run', '--silent', 'sbom');
copyFileSync(`${root}sbom.cdx.json`, `${folder}/sbom.cdx.json`);
writeFileSync(`${folder}/RELEASE_NOTES.md`, notes);
process.stdout.write(`release/ holds ${name} ${version}${isDryRun ? ' (dry run)' : ''}\n`);
