// Preloaded into a Node program: uses the better-sqlite3 that was compiled for this release.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const url = pathToFileURL(process.env.BETTER_SQLITE3).href;

registerHooks({
  resolve: (name, context, next) =>
    name === 'better-sqlite3' ? { url, shortCircuit: true } : next(name, context),
});
