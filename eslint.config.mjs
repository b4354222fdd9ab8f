import eslint from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';

/** The rooms of `src/` in rows: a room imports the rows above it, never its own row or one below. */
const ROWS = [
  ['config'],
  ['telemetry'],
  ['http', 'database', 'redis'],
  ['rate-limits'],
  ['keys'],
  ['idempotency'],
  ['pets'],
  ['health', 'openapi'],
];

const rooms = ROWS.flat();
const policies = ROWS.flatMap((row, index) =>
  row.map((room) => ({
    from: { element: { type: room } },
    allow: { to: { element: { types: { anyOf: [room, ...ROWS.slice(0, index).flat()] } } } },
  })),
);

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'data/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        // Nest injects by class, so what a constructor names must be imported as a value.
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-extraneous-class': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.spec.ts'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { typescript: { alwaysTryTypes: true } },
      'boundaries/elements': rooms.map((room) => ({ type: room, pattern: `src/${room}` })),
    },
    rules: {
      // Nothing imports what stands above the rooms: the assembly knows them, not they the assembly.
      'boundaries/no-unknown-dependencies': 'error',
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          policies,
        },
      ],
    },
  },
  {
    files: ['examples/**/*.ts'],
    rules: {
      // A guest knows the public surface alone.
      'no-restricted-imports': ['error', { patterns: [{ regex: '/src/(?!index\\.js$)' }] }],
    },
  },
  {
    files: ['test/**/*.ts', '**/*.spec.ts'],
    rules: {
      // What comes back from a socket has the type that the test is there to find out.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        setImmediate: 'readonly',
        clearInterval: 'readonly',
        performance: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
      },
    },
  },
);
