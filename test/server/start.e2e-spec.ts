import { startService } from '../support/start-service.js';

describe('a start', () => {
  it('says HOST where that is what has no address, and not that the database has none', async () => {
    const failure: unknown = await startService({ env: { HOST: '[::1]' } }).catch(
      (error: unknown) => error,
    );
    expect(String(failure)).toMatch(/ENOTFOUND \[::1\]: set HOST to an address of this machine$/);
  });
});
