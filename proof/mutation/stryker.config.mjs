import jest from '../../jest.config.mjs';

// The rooms whose guarantees matter most, mutated; killed by `npm test` alone.
const ROOMS = process.env.MUTATION_ROOMS ?? 'rate-limits,keys,idempotency,errors,input';
const FILES = process.env.MUTATION_FILES;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  jest: {
    configFile: 'jest.config.mjs',
    enableFindRelatedTests: true,
    // The short form runs the specs of one room.
    ...(FILES && { config: { ...jest, testMatch: ['<rootDir>/src/rate-limits/**/*.spec.ts'] } }),
  },
  mutate: [FILES ?? `src/{${ROOMS}}/**/*.ts`, '!src/**/*.spec.ts', '!src/**/*.module.ts'],
  ignorePatterns: ['dist', 'data', 'coverage', 'release', 'screenshots', 'proof/out'],
  coverageAnalysis: 'perTest',
  // A test waits for conditions for up to 15 s.
  timeoutMS: 20_000,
  concurrency: 2,
  // Texts of logs and of metrics are not part of a guarantee.
  mutator: { excludedMutations: ['StringLiteral', 'ObjectLiteral'] },
  reporters: ['json'],
  jsonReporter: { fileName: 'proof/out/mutation.json' },
  tempDirName: 'proof/out/stryker',
  cleanTempDir: 'always',
  allowEmpty: false,
};
