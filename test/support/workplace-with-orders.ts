import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { Workplace } from './petstore-process.js';

const SOURCES = 'examples/store-orders/src';
/** Packages that the example imports, and the service itself. */
const PACKAGES = '@nestjs class-transformer class-validator reflect-metadata rxjs typeorm'.split(
  ' ',
);
const CONFIG = `
import { storeOrders } from './index.js';
export default { extensions: [storeOrders] };
`;

/** A directory with the example store-orders, compiled, and a configuration file that uses it. */
export function workplaceWithOrders(
  env: Record<string, string> = {},
  configFile = 'petstore.config.js',
): Workplace {
  const workplace = new Workplace(env);
  const link = (target: string, name: string) => {
    const path = join(workplace.directory, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(resolve(target), path);
  };
  for (const name of PACKAGES) link(`node_modules/${name}`, name);
  link('.', 'pet-store-service');
  for (const name of readdirSync(SOURCES)) {
    const { outputText } = ts.transpileModule(readFileSync(join(SOURCES, name), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        useDefineForClassFields: false,
      },
    });
    workplace.write(name.replace(/ts$/, 'js'), outputText);
  }
  workplace.write('package.json', '{ "type": "module" }');
  workplace.write(configFile, CONFIG);
  return workplace;
}
