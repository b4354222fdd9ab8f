import { readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

// A process may take its time to start on a busy machine.
jest.setTimeout(180_000);

describe('the log', () => {
  it('names code, path and address of each error response, and contains no health checks and no key', async () => {
    using workplace = new Workplace();
    const server = await workplace.serve({ LOG_FORMAT: 'json' });
    const issue = ['keys', 'issue', '--plan', 'free', '--scopes', 'pets:read', '--name'];
    const { id, key } = await workplace.json(...issue, 'Zoo');
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(server.origin + path, {
        ...init,
        headers: { authorization: `Bearer ${key}`, 'x-request-id': 'mine', ...init.headers },
      });
    await ask('/v1/pets');
    await ask('/v1/pets/999999999');
    await ask(`/v1/${key}?key=${key}`);
    await ask('/v1/pets', { method: 'POST', body: '{}' });
    await ask('/v1/pets', { headers: { authorization: `Basic ${key}` } });
    await ask('/health/live');
    const { id: ended, key: revoked } = await workplace.json(...issue, 'Ark');
    await workplace.run('keys', 'revoke', ended);
    await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${revoked}` } });
    await ask('/docs');
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a line is expected to be
    const lines = (): any[] =>
      server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as unknown);
    const requests = () => lines().filter(({ requestId }) => requestId === 'mine');
    await eventually(() => Promise.resolve(requests().length >= 6));

    const common = { level: 'info', service: 'pet-store-service', version: expect.any(String) };
    for (const line of lines())
      expect(line).toMatchObject({ ...common, level: expect.any(String) });
    const refusal = { ...common, address: '127.0.0.1', keyId: id, durationMs: expect.any(Number) };
    const [listed, ...others] = requests();
    expect(listed).toMatchObject({ ...common, operation: 'listPets', keyId: id, status: 200 });
    expect(listed).not.toHaveProperty('address');
    expect(others).toMatchObject([
      { ...refusal, path: '/v1/pets/:petId', status: 404, code: 'pet_not_found' },
      { ...refusal, path: '/v1/*', status: 404, code: 'not_found' },
      { ...refusal, path: '/v1/pets', method: 'POST', status: 403, code: 'insufficient_scope' },
      { path: '/v1/pets', status: 401, code: 'missing_api_key', address: '127.0.0.1' },
      { operation: 'referencePage', status: 200 },
    ]);
    expect(others[3]).not.toHaveProperty('keyId');
    await eventually(() => Promise.resolve(lines().some(({ keyId }) => keyId === ended)));
    const [after] = lines().filter(({ keyId }) => keyId === ended);
    expect(after).toMatchObject({ status: 401, code: 'invalid_api_key', address: '127.0.0.1' });
    const documented = readFileSync('docs/operating.md', 'utf8');
    for (const field of new Set(lines().flatMap((line) => Object.keys(line)))) {
      expect(documented).toContain(`\`${field}\``);
    }
    expect(server.output()).not.toContain(key);
    expect(server.output()).not.toContain(revoked);
    expect(server.output()).not.toContain('/health');
    expect(await server.stop()).toBe(0);
  });
});
