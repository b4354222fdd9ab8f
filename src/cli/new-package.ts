import { writeExtension } from '../extensions/new-extension.js';
import { loadExtensions } from '../extensions/petstore-config.js';
import type { CommonOptions, Result } from './add-command.js';

/** `petstore new extension NAME` */
export async function newExtension(name: string, options: CommonOptions): Promise<Result> {
  await loadExtensions(options);
  const { files, tarball } = writeExtension(name);
  const install = tarball ? 'npm install' : 'npm install --save-dev TARBALL';
  const hint = tarball ? '' : ' (npm pack in a clone of the service writes TARBALL)';
  const text = `Created ${files.length} files. Next steps${hint}:

  cd ${name}
  ${install}
  npm test`;
  return { value: { name, files, tarball }, text };
}
