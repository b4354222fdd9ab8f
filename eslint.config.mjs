import eslint from '@eslint/js';
import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';
import { noCircles } from './scripts/no-circles.mjs';

/** `src/core` in rows: a room imports the rows above it, never its own row or one below. */
const CORE = [
  ['time', 'config'],
  ['telemetry', 'errors'],
  ['http', 'database', 'redis', 'events'],
  ['input', 'deprecation', 'rate-limits'],
  ['keys', 'tables'],
  ['idempotency', 'usage', 'health'],
  ['error.filter.ts'],
];
/** `src` in rows: the core, then the rooms and files that use it. */
const ROWS = [
  ...CORE.map((row) => row.map((room) => `core/${room}`)),
  ['extensions'],
  ['pets', 'account', 'docs'],
  ['admin'],
  ['built-in.ts', 'core.module.ts', 'pet-store.ts'],
  ['app.module.ts'],
  ['server.ts'],
  ['cli'],
  ['index.ts', 'testing.ts'],
  ['main.ts'],
  ['npx.ts'],
];

const rooms = ROWS.flat();
const policies = ROWS.flatMap((row, index) =>
  row.map((room) => ({
    from: { element: { type: room } },
    allow: { to: { element: { types: { anyOf: [room, ...ROWS.slice(0, index).flat()] } } } },
  })),
);

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'clients/typescript/src/schema.ts',
      'coverage/',
      'node_modules/',
      'data/',
      'proof/out/',
      // They need packages that only the examples install; the package tests compile them.
      'examples/mcp/**/*.ts',
      'examples/webhooks/test/',
    ],
  },
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
    plugins: {
      boundaries,
      house: { rules: { 'no-circles': noCircles(`${import.meta.dirname}/src`) } },
    },
    settings: {
      'import/resolver': { typescript: { alwaysTryTypes: true } },
      'boundaries/elements': rooms.map((room) => ({
        type: room,
        pattern: `src/${room}`,
        ...(room.endsWith('.ts') && { mode: 'full' }),
      })),
    },
    rules: {
      'house/no-circles': 'error',
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
    // The size of code that a newcomer reads in one go, and changes without surprises.
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.spec.ts'],
    rules: {
      'max-len': [
        'error',
        {
          code: 100,
          ignoreUrls: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
          ignorePattern: '^import |eslint-disable',
        },
      ],
      complexity: ['error', 12],
      'max-lines-per-function': ['error', 45],
      'max-params': 'off',
      '@typescript-eslint/max-params': ['error', { max: 5 }],
      'no-nested-ternary': 'error',
      curly: ['error', 'multi-line'],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the members of the inner literal; V8 makes a dictionary of the spread.',
        },
        {
          selector:
            "AssignmentExpression[left.type='MemberExpression'][left.object.type!='ThisExpression']" +
            '[right.type=/^(Arrow)?FunctionExpression$/]',
          message: 'Do not replace a method of an object: use a subclass, an option or an event.',
        },
        {
          selector: "CallExpression[callee.property.name='defineProperty']",
          message: 'Do not change the properties of an object of another library.',
        },
      ],
    },
  },
  {
    // A constructor lists what Nest injects.
    files: ['src/**/*.ts'],
    rules: { '@typescript-eslint/max-params': 'off' },
  },
  {
    files: ['examples/**/*.ts'],
    languageOptions: {
      // The configuration of an example resolves the installed package; this one resolves its sources.
      parserOptions: { projectService: false, project: './tsconfig.json' },
    },
    rules: {
      // An extension may only import public exports.
      'no-restricted-imports': ['error', { patterns: [{ regex: '(?:\\.\\./){3}src/' }] }],
    },
  },
  {
    files: ['test/**/*.ts', 'proof/**/*.ts', 'examples/*/test/**/*.ts', '**/*.spec.ts'],
    rules: {
      // The types of responses are part of what is tested.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['examples/*/test/**/*.ts', 'src/pets/*.spec.ts'],
    // The runner of Node awaits its tests by itself.
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  {
    files: ['src/docs/page/*.js', 'src/admin/console/*.js'],
    languageOptions: {
      globals: {
        DOMParser: 'readonly',
        Blob: 'readonly',
        FormData: 'readonly',
        SwaggerUIBundle: 'readonly',
        addEventListener: 'readonly',
        crypto: 'readonly',
        document: 'readonly',
        location: 'readonly',
        matchMedia: 'readonly',
        navigator: 'readonly',
        MutationObserver: 'readonly',
        TextEncoder: 'readonly',
        URLSearchParams: 'readonly',
      },
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
        AbortController: 'readonly',
        AbortSignal: 'readonly',
        URLSearchParams: 'readonly',
      },
    },
  },
);
