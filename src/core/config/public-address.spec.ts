import { loadConfig } from './config.js';
import { PublicAddress } from './public-address.js';

describe(PublicAddress.name, () => {
  const addressOf = (env: Record<string, string>) => new PublicAddress(loadConfig(env));

  it('is the configured address, wherever the server listens', () => {
    const address = addressOf({ PUBLIC_BASE_URL: 'https://api.example.com/v1/', PORT: '0' });
    address.listensOn(4711);
    expect(address.baseUrl).toBe('https://api.example.com/v1');
    expect(address.docsUrl).toBe('https://api.example.com/docs');
  });

  it('keeps the path that a proxy serves it below', () => {
    const { baseUrl, docsUrl } = addressOf({ PUBLIC_BASE_URL: 'https://example.com/store/v1' });
    expect(baseUrl).toBe('https://example.com/store/v1');
    expect(docsUrl).toBe('https://example.com/docs');
  });

  it('defaults to localhost with the port that the system chose', () => {
    const address = addressOf({ PORT: '0' });
    address.listensOn(4711);
    expect(address.baseUrl).toBe('http://localhost:4711/v1');
    expect(address.docsUrl).toBe('http://localhost:4711/docs');
    expect(addressOf({}).baseUrl).toBe('http://localhost:3000/v1');
  });
});
