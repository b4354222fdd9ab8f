import { StaticAsset } from './static-asset.js';

type Reply = Parameters<StaticAsset['send']>[0];

describe(StaticAsset.name, () => {
  function send(asset: StaticAsset, acceptEncoding: string) {
    const sent: { body?: unknown; encoding?: unknown } = {};
    const reply = {
      request: { headers: { 'accept-encoding': acceptEncoding } },
      getHeader: () => undefined,
      headers: () => reply,
      header: (name: string, value: unknown) => {
        if (name === 'content-encoding') sent.encoding = value;
      },
      type: () => reply,
      send: (body: unknown) => Object.assign(sent, { body }),
    };
    asset.send(reply as unknown as Reply);
    return sent;
  }

  it.each([
    ['', undefined],
    ['gzip, deflate, br', 'gzip'],
    ['GZIP;q=1', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.0, br', undefined],
    ['gzipped', undefined],
  ])(
    'responds to Accept-Encoding %j with %s, from one buffer for all clients',
    (field, encoding) => {
      const asset = new StaticAsset('text/css', 'a {}'.repeat(100));
      const [first, second] = [send(asset, field), send(asset, field)];
      expect(first.encoding).toBe(encoding);
      expect(first.body).toBeInstanceOf(Buffer);
      expect(first.body).toBe(second.body);
    },
  );
});
