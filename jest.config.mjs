// Nest is ESM only and Jest runs CommonJS, so Nest and other ESM packages are compiled to CommonJS.
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
  'string-width',
  'strip-ansi',
  'ansi-regex',
  'emoji-regex',
  'get-east-asian-width',
  'jose',
  '@ark',
  'arktype',
  'arkregex',
];

const unit = ['<rootDir>/src/**/*.spec.ts', '<rootDir>/clients/*/src/**/*.spec.ts'];
/** A folder that is a suite of its own. */
const FOLDERS = ['process', 'package', 'long'];
/** `NAME.postgres.e2e-spec.ts`: the suite of a file in the folder of its room. */
const SUFFIXES = { page: ['page'], engines: ['postgres', 'redis'] };
const SUFFIXED = `*.{${Object.values(SUFFIXES).flat().join()}}.e2e-spec.ts`;
/** Their tests run on PostgreSQL as well. */
const ROOMS = 'admin,account,contract,extensions,idempotency,keys,pets,rate-limits,usage';
const ON_POSTGRES = [
  `<rootDir>/test/{${ROOMS}}/*.e2e-spec.ts`,
  '<rootDir>/test/http/context.e2e-spec.ts',
  '<rootDir>/test/database/{schema,table-gateway,transactions}.e2e-spec.ts',
];

/** The files of each `npm run test:SUITE`; `npm test` has none of these names. */
const { SUITE = 'default' } = process.env;
function filesOf(suite) {
  if (suite === 'default') {
    const others = FOLDERS.map((folder) => `!**/test/${folder}/**`);
    return [...unit, '<rootDir>/test/*/*.e2e-spec.ts', ...others, `!**/${SUFFIXED}`];
  }
  if (!(suite in SUFFIXES)) return [`<rootDir>/test/${suite}/*.e2e-spec.ts`];
  const own = SUFFIXES[suite].map((suffix) => `<rootDir>/test/*/*.${suffix}.e2e-spec.ts`);
  return suite === 'engines' ? [...own, ...ON_POSTGRES, '!**/*.page.e2e-spec.ts'] : own;
}

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: filesOf(SUITE),
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
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
    // The imports of the examples.
    '^node:test$': '<rootDir>/test/support/node-test.ts',
    '^pet-store-service$': '<rootDir>/src/index.ts',
    '^pet-store-service/testing$': '<rootDir>/src/testing.ts',
    // A build for another release of Node: `.ci/unit-on-node`.
    ...(process.env.BETTER_SQLITE3 && { '^better-sqlite3$': process.env.BETTER_SQLITE3 }),
  },
  // The provider v8 takes three times as long.
  coverageProvider: 'babel',
  collectCoverageFrom: [
    'src/**/*.ts',
    'clients/*/src/**/*.ts',
    '!**/*.spec.ts',
    '!src/{main,npx}.ts',
    '!src/**/*.d.ts',
    '!clients/typescript/src/schema.ts',
    // These files run only in processes of their own (npm run test:process), where nothing is counted.
    ...[
      'src/cli/backup.ts',
      'src/core/database/sqlite/sqlite.copy.ts',
      'src/cli/new-extension.ts',
      'src/core/telemetry/traces.ts',
      'src/testing.ts',
      // Types alone.
      'clients/typescript/src/{models,options}.ts',
    ].map((path) => `!${path}`),
  ],
  // npm test alone; other suites run the rest.
  coverageThreshold: { global: { lines: 94, branches: 85 } },
  // On two cores, because tests wait for a third of their time.
  maxWorkers: 3,
  // Longer than any test takes on a busy machine: it ends those that hang.
  testTimeout: 600_000,
};
