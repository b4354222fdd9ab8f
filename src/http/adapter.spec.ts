import { fastify } from 'fastify';
import { loadConfig } from '../config/config.js';
import { PetStoreAdapter } from './adapter.js';
import { PagedAnswer } from './answers.js';
import { PublicAddress } from './public-address.js';

class Toys extends PagedAnswer {}

describe(PetStoreAdapter.name, () => {
  it.each([
    ['/v1/toys?limit=1', 'https://zoo.example/api/v1/toys?limit=1&cursor=abc'],
    ['/open/toys?kind=ball', 'https://zoo.example/open/toys?kind=ball&limit=1&cursor=abc'],
    ['/toys', 'https://zoo.example/toys?limit=1&cursor=abc'],
  ])('links from %s to the next page where it is served', async (path, next) => {
    const transport = fastify();
    const address = new PublicAddress(
      loadConfig({ PUBLIC_BASE_URL: 'https://zoo.example/api/v1' }),
    );
    const adapter = new PetStoreAdapter(
      transport,
      { answerUnrouted: () => Promise.resolve(), admitsUnguarded: () => Promise.resolve(true) },
      () => address,
    );
    transport.get('*', (_request, reply) => adapter.reply(reply, new Toys([{ id: 7n }], 'abc')));
    const answer = await transport.inject(path);
    expect(answer.body).toBe('[{"id":7}]');
    expect(answer.headers.link).toBe(`<${next}>; rel="next"`);
  });
});
