import { Database } from '../../src/index.js';
import { useService } from '../support/start-service.js';

describe('health', () => {
  const { service } = useService();
  afterEach(() => jest.restoreAllMocks());

  const get = (path: string) => service.anonymous().get(path);

  it('is live, for anyone who asks', async () => {
    const answer = await get('/health/live');
    expect([answer.status, answer.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('is ready while the database answers', async () => {
    const answer = await get('/health/ready');
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ status: 'ok', checks: { database: 'ok', counters: 'memory' } });
  });

  it.each([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('is not ready while the database %s, and stays live', async (_what, ping) => {
    jest.spyOn(service.store.app.get(Database), 'ping').mockImplementation(ping);
    const answer = await get('/health/ready');
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('2');
    expect(answer.json()).toEqual({
      status: 'unavailable',
      checks: { database: 'unavailable', counters: 'memory' },
    });
    expect((await get('/health/live')).status).toBe(200);
    jest.restoreAllMocks();
    expect((await get('/health/ready')).status).toBe(200);
  });
});
