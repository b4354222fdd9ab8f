import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve('.');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const SNIPPET = /^```ts\n(.*?)^```/gms;

/** A project with the snippets of a document. */
class Snippets implements Disposable {
  private readonly directory = mkdtempSync(join(tmpdir(), 'petstore-snippets-'));
  readonly files: readonly string[];

  constructor(document: string) {
    const texts = Array.from(readFileSync(document, 'utf8').matchAll(SNIPPET), ([, text]) => text!);
    this.files = texts.map((_text, index) => `snippet-${index}.ts`);
    texts.forEach((text, index) => this.write(this.files[index]!, text));
    symlinkSync(join(ROOT, 'node_modules'), join(this.directory, 'node_modules'));
    this.write('package.json', '{ "type": "module" }');
    this.write('tsconfig.json', JSON.stringify(this.configuration()));
  }

  private configuration(): object {
    return {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: true,
        incremental: false,
        noUnusedLocals: false,
        rootDir: '/',
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      // Types of packages that have none.
      include: [join(ROOT, 'src/**/*.d.ts')],
      files: this.files,
    };
  }

  /** @returns the errors of the compiler; empty if there are none */
  compile(): Promise<string> {
    return new Promise((done) => {
      execFile(process.execPath, [TSC, '-p', this.directory], (_error, stdout) => done(stdout));
    });
  }

  private write(name: string, text: string): void {
    writeFileSync(join(this.directory, name), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

describe('docs/extending.md', () => {
  it('has snippets that compile', async () => {
    using snippets = new Snippets('docs/extending.md');
    expect(snippets.files.length).toBeGreaterThan(5);
    expect(await snippets.compile()).toBe('');
  }, 180_000);
});
