// Checks that the licence of every shipped package is compatible with MIT. Argument: a bill of
// materials (CycloneDX, as `npm run sbom` writes it).
import { readFileSync } from 'node:fs';
import satisfies from 'spdx-satisfies';

const ALLOWED = [
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
  ],
  ...['MIT-0', 'Python-2.0', 'Unlicense'],
];

const { components } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const rejected = components
  .map(({ name, version, licenses = [] }) => {
    const stated = licenses.map(
      ({ license, expression }) => expression ?? license.id ?? license.name,
    );
    return { package: `${name}@${version}`, stated: stated.join(' AND ') };
  })
  .filter(({ stated }) => {
    try {
      return !satisfies(stated, ALLOWED);
    } catch {
      return true;
    }
  });

for (const { package: name, stated } of rejected) {
  process.stderr.write(`${name}: ${stated || 'no licence stated'}\n`);
}
if (rejected.length > 0) {
  process.stderr.write(`${rejected.length} packages have a licence that is not allowed\n`);
  process.exit(1);
}
process.stdout.write(`${components.length} packages, every licence allowed\n`);
