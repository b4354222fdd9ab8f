import { startService, type TestService } from '../support/start-service.js';

describe('GET /v1/pets', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  it('answers an empty array where there are no animals', async () => {
    const client = await service.client();
    const answer = await client.get('/v1/pets');
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('[]');
    client.close();
  });
});
