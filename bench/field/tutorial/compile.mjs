// Compiles with TypeScript, because decorators need its metadata. The output is in dist/, where the packages of the
// service are found.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../settings.mjs';

const source = join(root, 'bench/field/tutorial');
const target = join(root, 'dist/bench/tutorial');

export function compileTutorial() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source).filter((each) => each.endsWith('.ts'))) {
    const fileName = join(source, name);
    const text = readFileSync(fileName, 'utf8');
    const { outputText } = ts.transpileModule(text, {
      fileName,
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext, sourceMap: false },
    });
    writeFileSync(join(target, name.replace(/\.ts$/, '.js')), outputText);
  }
}
