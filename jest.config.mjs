// Nest is ESM only and Jest runs CommonJS, so everything is compiled to that, Nest included.
const ESM_PACKAGES = [
  '@nestjs',
  'file-type',
  'strtok3',
  'token-types',
  'uint8array-extras',
  '@tokenizer',
  '@borewit',
  'inflection',
  'cookie',
  'content-disposition',
  'marked',
  'jose',
  '@ark',
  'arktype',
  'arkregex',
];

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: [
    '<rootDir>/src/**/*.spec.ts',
    '<rootDir>/clients/*/src/**/*.spec.ts',
    '<rootDir>/test/**/*.e2e-spec.ts',
  ],
  // Minutes long, for it installs from the registry: npm run test:package
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.PACKAGE_TESTS ? [] : ['/test/packaging/']),
  ],
  globalSetup: '<rootDir>/test/support/announce.mjs',
  setupFiles: ['reflect-metadata'],
  transform: {
    '^.+\\.(ts|js|mjs)$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ESM_PACKAGES.join('|')})/)`],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // What an example takes from the installed package.
    '^pet-store-service$': '<rootDir>/src/index.ts',
    '^pet-store-service/testing$': '<rootDir>/src/testing.ts',
    // Made for another release of Node: `.ci/unit-on-node`.
    ...(process.env.BETTER_SQLITE3 && { '^better-sqlite3$': process.env.BETTER_SQLITE3 }),
  },
  // V8's own tells of every script of the process, for each test file anew, which takes three times as long.
  coverageProvider: 'babel',
  collectCoverageFrom: [
    'src/**/*.ts',
    'clients/*/src/**/*.ts',
    '!**/*.spec.ts',
    '!src/main.ts',
    '!src/**/*.d.ts',
    '!clients/typescript/src/schema.ts',
    // What runs in a process of its own alone is tested there, by the real program, and not counted here.
    ...[
      'src/cli/backup.commands.ts',
      'src/database/sqlite/sqlite.{copy,restore}.ts',
      'src/extensions/{new-extension,petstore-config}.ts',
      'src/telemetry/open-telemetry.traces.ts',
      'src/testing.ts',
      // Types alone.
      'clients/typescript/src/{models,options}.ts',
      'src/database/database-facts.ts',
      'src/keys/verifier.ts',
    ].map((path) => `!${path}`),
  ],
  coverageThreshold: { global: { lines: 97, branches: 91 } },
  maxWorkers: 2,
  testTimeout: 120_000,
};
