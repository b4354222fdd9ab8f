import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
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
const TOOLS = ['tools.ts', 'tools-extension.ts'];
const CONFIG_WITH_TOOLS = `
import { storeOrders } from './index.js';
import { tools } from './tools-extension.js';
export default { extensions: [storeOrders, tools] };
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
  for (const name of readdirSync(SOURCES)) writeCompiled(workplace, join(SOURCES, name));
  workplace.write('package.json', '{ "type": "module" }');
  workplace.write(configFile, CONFIG);
  return workplace;
}

/** The same with the extension of `tools-extension.ts` too. */
export function workplaceWithTools(env: Record<string, string> = {}): Workplace {
  const workplace = workplaceWithOrders(env);
  for (const name of TOOLS) writeCompiled(workplace, join('test/support', name));
  workplace.write('petstore.config.js', CONFIG_WITH_TOOLS);
  return workplace;
}

function writeCompiled(workplace: Workplace, path: string): void {
  const { outputText } = ts.transpileModule(readFileSync(path, 'utf8'), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      useDefineForClassFields: false,
    },
  });
  workplace.write(basename(path).replace(/ts$/, 'js'), outputText);
}
