import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION } from '../config/version.js';
import { defineErrors } from '../errors/define-errors.js';
import { checkExtensions, ExtensionError } from './check.js';
import type { Extension } from './define.js';

class ToysModule {}
const toys: Extension = { name: 'toys', compatibility: '^1.0.0', module: ToysModule };
class Concurrent1700000000000 {
  transaction = false;
}
const [major] = VERSION.split('.');

describe(checkExtensions.name, () => {
  it('lets pass what fits, also a pre-release of it', () => {
    expect(checkExtensions([toys, { module: ToysModule }])).toEqual([]);
    expect(checkExtensions([{ ...toys, compatibility: `>=${major}.0.0-0` }])).toEqual([]);
  });

  it('stops at another version, unless that is to be ignored, with a warning', () => {
    const later = { ...toys, compatibility: '^99.1.0' };
    const said = `The extension toys works with ^99.1.0 of pet-store-service, and this is ${VERSION}`;
    expect(() => checkExtensions([later])).toThrow(new ExtensionError(said));
    expect(checkExtensions([later], { ignoreCompatibility: ['toys'] })).toEqual([
      `${said}: started all the same`,
    ]);
  });

  it.each<[string, readonly unknown[], string]>([
    ['a function', [() => toys], 'place 1 of the list is a function: call it with its options'],
    ['nothing', [toys, null], 'place 2 of the list is no extension'],
    ['no module', [{ name: 'toys' }], 'The extension toys has no module'],
    ['a name with blanks', [{ ...toys, name: 'my toys' }], 'must be like store-orders'],
    ['the unknown', [{ ...toys, migration: [] }], 'toys says migration, which nothing reads'],
    ['no range', [{ ...toys, compatibility: 'new' }], 'has no range of versions'],
    ['a name twice', [toys, toys], 'There are two extensions named toys'],
    [
      'an odd scope',
      [{ ...toys, scopes: { toys: 'x' } }],
      'a scope must be like orders:read: toys',
    ],
    ['no order', [{ ...toys, migrations: [class Create {}] }], 'the migration Create ends in no'],
    ['no class', [{ ...toys, migrations: [7] }], 'what is no class is among its migrations'],
    [
      'an error that is none',
      [{ ...toys, errors: defineErrors({ toy_fine: { status: 200, meaning: 'Fine.' } }) }],
      'the status of toy_fine must be from 400 to 599: 200',
    ],
    [
      'an error code with blanks',
      [{ ...toys, errors: defineErrors({ 'Toy broken!': { status: 409, meaning: 'Broken.' } }) }],
      'an error code must be like order_closed: Toy broken!',
    ],
    [
      'a header that is none',
      [{ ...toys, requestHeaders: ['X-Toy', 'X Toy\r\n'] }],
      'toys: "X Toy\\r\\n" names no header in requestHeaders',
    ],
    [
      'a transaction of a migration',
      [{ ...toys, migrations: [Concurrent1700000000000] }],
      'the migration Concurrent1700000000000 says transaction, but all run in one: leave it out',
    ],
    ['no verifier', [{ ...toys, verifier: {} }], 'its verifier has no method verify'],
  ])('stops at an extension that is or says %s', (_what, extensions, message) => {
    expect(() => checkExtensions(extensions as Extension[])).toThrow(message);
  });

  it('stops at an error code that is declared twice, and says by whom', () => {
    const errors = defineErrors({ toy_broken: { status: 409, meaning: 'Broken.' } });
    const ours = defineErrors({ pet_not_found: { status: 404, meaning: 'Gone.' } });
    expect(() => checkExtensions([{ ...toys, errors: ours }])).toThrow(
      'The error code pet_not_found is declared twice: by the service itself and by the extension toys',
    );
    const more = { ...toys, name: 'more', errors };
    expect(() => checkExtensions([{ ...toys, errors }, more])).toThrow(
      'The error code toy_broken is declared twice: by the extension toys and by the extension more',
    );
  });

  it('stops where --ignore-compatibility names nobody', () => {
    expect(() => checkExtensions([toys], { ignoreCompatibility: ['tyos'] })).toThrow(
      '--ignore-compatibility tyos: there is no extension of that name',
    );
  });

  describe('of a second copy', () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'petstore-copies-')));
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    it.each(['class-validator', 'typeorm', '@nestjs/common', 'rxjs'])(
      'stops at %s, and names both places',
      (name) => {
        const copy = join(directory, name, 'node_modules', name);
        mkdirSync(copy, { recursive: true });
        const file = join(directory, name, 'extension.js');
        writeFileSync(file, '');
        const from = pathToFileURL(file).href;
        const said = `uses a second copy of ${name}: ${copy} beside ${realpathSync(`node_modules/${name}`)}`;
        expect(() => checkExtensions([{ ...toys, from }])).toThrow(`The extension toys ${said}`);
        expect(() => checkExtensions([toys], { file })).toThrow(`The configuration ${said}`);
      },
    );

    it('finds none beside us', () => {
      expect(checkExtensions([{ ...toys, from: pathToFileURL(__filename).href }])).toEqual([]);
    });
  });
});
