// Checks that a package can be packed again, bit for bit: packs each package, unpacks it in another
// folder with new file times, packs that folder, and compares the digests.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packs a folder, without its scripts, and returns the path of the tarball. */
function pack(folder, destination) {
  mkdirSync(destination);
  const args = ['pack', folder, '--ignore-scripts', '--silent', '--pack-destination', destination];
  const options = { cwd: root, encoding: 'utf8' };
  return join(destination, execFileSync('npm', args, options).trim());
}

const digestOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

function check(name, folder, work) {
  const first = pack(folder, join(work, 'first'));
  // -m sets the file times to now.
  execFileSync('tar', ['-xzmf', first, '-C', work]);
  const digests = [first, pack(join(work, 'package'), join(work, 'second'))].map(digestOf);
  if (digests[0] === digests[1]) return console.log(`ok    ${name} sha256:${digests[0]}`);
  console.error(`FAIL  ${name}: ${digests.join(' and then ')}`);
  process.exitCode = 1;
}

for (const folder of ['.', './clients/typescript', './conformance']) {
  const { name } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const work = mkdtempSync(join(tmpdir(), 'petstore-pack-'));
  try {
    check(name, folder, work);
  } finally {
    rmSync(work, { recursive: true });
  }
}
