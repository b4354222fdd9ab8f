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
  it('accepts a matching version, and a pre-release of it', () => {
    expect(checkExtensions([toys, { module: ToysModule }])).toEqual([]);
    expect(checkExtensions([{ ...toys, compatibility: `>=${major}.0.0-0` }])).toEqual([]);
  });

  it('rejects another version, or warns if the check is ignored', () => {
    const later = { ...toys, compatibility: '^99.1.0' };
    const message = `extension toys requires pet-store-service ^99.1.0, but this is ${VERSION}`;
    expect(() => checkExtensions([later])).toThrow(new ExtensionError(message));
    expect(checkExtensions([later], { ignoreCompatibility: ['toys'] })).toEqual([
      `${message}; starting anyway`,
    ]);
  });

  it.each<[string, readonly unknown[], string]>([
    [
      'function',
      [() => toys],
      'extension number 1 of the list: expected an object with a module; call a function',
    ],
    ['null', [toys, null], 'extension number 2 of the list: expected an object'],
    ['manifest without module', [{ name: 'toys' }], 'extension toys: expected an object with a'],
    ['name with a space', [{ ...toys, name: 'my toys' }], 'like store-orders, not my toys'],
    ['unknown property', [{ ...toys, migration: [] }], 'toys: unknown property "migration"'],
    ['invalid range', [{ ...toys, compatibility: 'new' }], 'a semver range like ^1.0.0, not new'],
    ['repeated name', [toys, toys], 'two extensions have the name toys'],
    ['invalid scope', [{ ...toys, scopes: { toys: '' } }], 'the scope toys must be like orders:'],
    [
      'migration without timestamp',
      [{ ...toys, migrations: [class Create {}] }],
      'Create must end',
    ],
    [
      'migration with `transaction`',
      [{ ...toys, migrations: [Concurrent1700000000000] }],
      'Concurrent1700000000000 must end in a timestamp of 13 digits, and it cannot have `transaction`',
    ],
    [
      'status that is no error',
      [{ ...toys, errors: defineErrors({ toy_fine: { status: 200, meaning: 'Fine.' } }) }],
      'the error toy_fine must have a code like order_closed and a status between 400 and 599, not 200',
    ],
    [
      'invalid code',
      [{ ...toys, errors: defineErrors({ 'Toy broken!': { status: 409, meaning: 'Broken.' } }) }],
      'the error Toy broken! must have',
    ],
  ])('rejects a %s', (_what, extensions, message) => {
    expect(() => checkExtensions(extensions as Extension[])).toThrow(message);
  });

  it('rejects an error code that is declared twice, and names both', () => {
    const errors = defineErrors({ toy_broken: { status: 409, meaning: 'Broken.' } });
    const taken = defineErrors({ pet_not_found: { status: 404, meaning: 'Gone.' } });
    expect(() => checkExtensions([{ ...toys, errors: taken }])).toThrow(
      'error code pet_not_found is declared by the service and by extension toys',
    );
    const more = { ...toys, name: 'more', errors };
    expect(() => checkExtensions([{ ...toys, errors }, more])).toThrow(
      'error code toy_broken is declared by extension toys and by extension more',
    );
  });

  it('rejects an unknown name in --ignore-compatibility', () => {
    expect(() => checkExtensions([toys], { ignoreCompatibility: ['tyos'] })).toThrow(
      '--ignore-compatibility tyos: no extension has this name',
    );
  });

  describe('for a second copy', () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'petstore-copies-')));
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    it.each(['class-validator', 'class-transformer', 'typeorm', '@nestjs/common', '@nestjs/core'])(
      'of %s names both folders',
      (name) => {
        const copy = join(directory, name, 'node_modules', name);
        mkdirSync(copy, { recursive: true });
        const file = join(directory, name, 'extension.js');
        writeFileSync(file, '');
        const from = pathToFileURL(file).href;
        const message = `uses a second copy of ${name}: ${copy} beside ${realpathSync(`node_modules/${name}`)}`;
        expect(() => checkExtensions([{ ...toys, from }])).toThrow(`extension toys ${message}`);
        expect(() => checkExtensions([toys], { file })).toThrow(`the configuration ${message}`);
      },
    );

    it('accepts an extension beside the service', () => {
      expect(checkExtensions([{ ...toys, from: pathToFileURL(__filename).href }])).toEqual([]);
    });
  });
});
