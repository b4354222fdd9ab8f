import fastify from 'fastify';
import { sayNoLengthOfNothing } from './head-length.js';

describe(sayNoLengthOfNothing.name, () => {
  it.each([
    [200, 'Rex', '3'],
    [200, undefined, '0'],
    [204, undefined, undefined],
    [304, undefined, undefined],
  ])('has HEAD answer a %s of %s with the length %s, as GET does', async (code, body, length) => {
    await using server = fastify();
    server.addHook('onRoute', sayNoLengthOfNothing);
    server.get('/', (_request, reply) => reply.code(code).send(body));
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await server.inject({ method, url: '/' });
      expect([statusCode, headers['content-length']]).toEqual([code, length]);
    }
  });
});
