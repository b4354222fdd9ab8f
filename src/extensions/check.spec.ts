import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../core/config/config.js';
import { VERSION } from '../core/config/version.js';
import { defineErrors } from '../core/errors/api-error.js';
import { assertManifests, checkExtensions } from './check.js';
import type { Extension } from './define.js';

class ToysModule {}
const toys: Extension = { name: 'toys', compatibility: '^1.0.0', module: ToysModule };
const windUp = { name: 'wind-up', description: 'Wind up.', run: () => undefined };
const [major] = VERSION.split('.');

describe(checkExtensions.name, () => {
  it('accepts a matching version, and a pre-release of it', () => {
    expect(checkExtensions([toys, { module: ToysModule }])).toEqual([]);
    expect(checkExtensions([{ ...toys, compatibility: `>=${major}.0.0-0` }])).toEqual([]);
  });

  it('rejects another version, or warns if the check is ignored', () => {
    const later = { ...toys, compatibility: '^99.1.0' };
    const message = `extension toys requires pet-store-service ^99.1.0, but this is ${VERSION}`;
    expect(() => checkExtensions([later])).toThrow(
      new ConfigError([`${message}; --ignore-compatibility toys starts anyway`]),
    );
    expect(checkExtensions([later], { ignoreCompatibility: ['toys'] })).toEqual([
      `${message}; starting anyway`,
    ]);
  });

  it.each<[string, readonly unknown[], string]>([
    [
      'function',
      [() => toys],
      'extension number 1 of the list is not a manifest; if it is a function of options, call it',
    ],
    ['null', [toys, null], 'extension number 2 of the list is not a manifest'],
    ['manifest without module', [{ name: 'toys' }], 'extension toys: module must be a class or'],
    [
      'member that is unknown',
      [{ ...toys, migration: [] }],
      'extension toys: migration is not a known member',
    ],
    [
      'member of a wrong kind',
      [{ ...toys, migrations: {} }],
      'extension toys: migrations must be an array',
    ],
    [
      'list of commands that is none',
      [{ ...toys, commands: {} }],
      'extension toys: commands must be an array',
    ],
    [
      'command without run',
      [{ ...toys, commands: [{ name: 'wind-up', description: 'Wind up.' }] }],
      'extension toys: commands[0]: run must be a function',
    ],
    [
      'command with an unknown member',
      [{ ...toys, commands: [{ ...windUp, usage: '' }] }],
      'extension toys: commands[0]: usage is not a known member',
    ],
    [
      'command with a name of two words',
      [{ ...toys, commands: [{ ...windUp, name: 'Wind up' }] }],
      'extension toys: commands[0]: name must be lower case, such as close-orders',
    ],
    [
      'command of the service',
      [{ ...toys, commands: [{ ...windUp, name: 'keys' }] }],
      'command keys is declared twice: by the service and by extension toys',
    ],
    [
      'command that two have',
      [
        { ...toys, commands: [windUp] },
        { ...toys, name: 'more', commands: [windUp] },
      ],
      'command wind-up is declared twice: by extension toys and by extension more',
    ],
    [
      'name that two have',
      [toys, { ...toys }],
      'extension toys is declared twice: by number 1 and by number 2',
    ],
  ])('rejects a %s', (_what, extensions, message) => {
    expect(() => assertManifests(extensions as Extension[])).toThrow(message);
  });

  it('rejects an error code that is declared twice, and names both', () => {
    const errors = defineErrors({ toy_broken: { status: 409, meaning: 'Broken.' } });
    const taken = defineErrors({ not_found: { status: 404, meaning: 'Gone.' } });
    expect(() => checkExtensions([{ ...toys, errors: taken }])).toThrow(
      'error code not_found is declared twice: by the service and by extension toys',
    );
    const more = { ...toys, name: 'more', errors };
    expect(() => checkExtensions([{ ...toys, errors }, more])).toThrow(
      'error code toy_broken is declared twice: by extension toys and by extension more',
    );
  });

  it('rejects a default scope that the extension does not declare', () => {
    const scopes = { 'toys:read': 'Read toys.' };
    const defaultScopes = ['toys:read', 'toys:write'];
    expect(() => checkExtensions([{ ...toys, scopes, defaultScopes }])).toThrow(
      new ConfigError(['extension toys: defaultScopes has toys:write, not in scopes']),
    );
  });

  it('takes a line for each fault', () => {
    const errors = defineErrors({ not_found: { status: 404, meaning: 'Gone.' } });
    const both = [{ ...toys, errors, compatibility: '^99.1.0' }];
    expect(() => checkExtensions(both)).toThrow(/^extension toys requires .*\nerror code .*$/);
  });

  describe('for a second copy', () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'petstore-copies-')));
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    it.each([
      ...['class-validator', 'class-transformer', 'typeorm', '@nestjs/common', '@nestjs/core'],
      'pet-store-service',
    ])('names both folders of %s', (name) => {
      const copy = join(directory, name, 'node_modules', name);
      mkdirSync(copy, { recursive: true });
      const file = join(directory, name, 'extension.js');
      writeFileSync(file, '');
      const from = pathToFileURL(file).href;
      const own = realpathSync(name === 'pet-store-service' ? '.' : `node_modules/${name}`);
      const message = `uses a second copy of ${name}: ${copy}, while the service uses ${own}`;
      expect(() => checkExtensions([{ ...toys, from }])).toThrow(`extension toys ${message}`);
      expect(() => checkExtensions([toys], { file })).toThrow(`the configuration ${message}`);
    });

    it('takes one line for all packages of a folder, and names the command that uses them', () => {
      const modules = join(directory, 'project', 'node_modules');
      for (const name of ['pet-store-service', 'typeorm', '@nestjs/core']) {
        mkdirSync(join(modules, name), { recursive: true });
      }
      const file = join(directory, 'project', 'petstore.config.js');
      writeFileSync(file, '');
      const from = pathToFileURL(file).href;
      const own = realpathSync('.');
      const copies = `${join(modules, 'pet-store-service')}, while the service uses ${own}`;
      const message = `extension toys uses a second copy of pet-store-service: ${copies}`;
      expect(() => checkExtensions([{ ...toys, from }], { file })).toThrow(
        new ConfigError([`${message}; start it with npx petstore there`]),
      );
    });

    it('accepts an extension beside the service', () => {
      expect(checkExtensions([{ ...toys, from: pathToFileURL(__filename).href }])).toEqual([]);
    });
  });
});
