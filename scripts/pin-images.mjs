// Adds its digest to each image that Dockerfile and compose.yaml use without one. It needs Docker
// and a network. Dependabot updates the digests from then on.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
// An image of this project is built here and has no digest.
const IMAGE = /^(\s*image: |FROM )((?!pet-store-service)[\w./-]+:[\w.-]+)(?=\s|$)/gm;

function digestOf(image) {
  const format = '{{.Manifest.Digest}}';
  const args = ['buildx', 'imagetools', 'inspect', '--format', format, image];
  const digest = execFileSync('docker', args, { encoding: 'utf8' }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${image}: no digest, but ${digest}`);
  return digest;
}

for (const file of ['Dockerfile', 'compose.yaml']) {
  const text = readFileSync(file, 'utf8');
  const pinned = text.replace(IMAGE, (_, start, image) => {
    console.log(`${file}: ${image}`);
    return `${start}${image}@${digestOf(image)}`;
  });
  if (pinned !== text) writeFileSync(file, pinned);
}
