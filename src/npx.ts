#!/usr/bin/env -S node --max-semi-space-size=64
// `npx pet-store-service` starts the server; with arguments it is `petstore`.
if (process.argv.length === 2) process.argv.push('serve');
await import('./main.js');
