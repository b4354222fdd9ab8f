import { MUTATED } from './scope.mjs';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'circus',
  plugins: ['./proof/mutation/circus-runner.mjs'],
  mutate: [MUTATED, '!src/**/*.spec.ts', '!src/**/*.module.ts'],
  ignorePatterns: ['dist', 'data', 'coverage', 'release', 'screenshots', 'proof/out', 'bench'],
  coverageAnalysis: 'perTest',
  // Decorators and constants run once, while their file is loaded.
  ignoreStatic: true,
  // A test waits for conditions for up to 15 s; a mutant that hangs is killed before.
  timeoutMS: 8_000,
  // The tests of a mutant wait for most of their time.
  concurrency: 6,
  // Texts of messages, logs and metrics are not part of a guarantee.
  mutator: { excludedMutations: ['StringLiteral', 'ObjectLiteral'] },
  reporters: ['json'],
  jsonReporter: { fileName: 'proof/out/mutation.json' },
  tempDirName: 'proof/out/stryker',
  cleanTempDir: 'always',
  allowEmpty: false,
};
