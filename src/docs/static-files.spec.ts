import { StaticFiles } from './static-files.js';

type Reply = Parameters<StaticFiles['send']>[0];

describe(StaticFiles.name, () => {
  const make = jest.fn(() =>
    Promise.resolve({ '/a.css': ['text/css', 'a {}'.repeat(100)] } as const),
  );
  const files = new StaticFiles(make);

  async function send(acceptEncoding: string) {
    const sent: { body?: unknown; encoding?: unknown } = {};
    const reply = {
      request: { url: '/a.css', headers: { 'accept-encoding': acceptEncoding } },
      getHeader: () => undefined,
      headers: () => reply,
      header: (name: string, value: unknown) => {
        if (name === 'content-encoding') sent.encoding = value;
      },
      type: () => reply,
      send: (body: unknown) => Object.assign(sent, { body }),
    };
    await files.send(reply as unknown as Reply, {});
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
    async (field, encoding) => {
      const [first, second] = [await send(field), await send(field)];
      expect(first.encoding).toBe(encoding);
      expect(first.body).toBeInstanceOf(Buffer);
      expect(first.body).toBe(second.body);
      expect(make).toHaveBeenCalledTimes(1);
    },
  );

  it('are made again after a failure', async () => {
    const failing = jest.fn(make).mockRejectedValueOnce(new Error('too many open files'));
    const reply = { request: { url: '/none', headers: {} } } as unknown as Reply;
    const again = new StaticFiles(failing);
    await expect(again.send(reply, {})).rejects.toThrow('too many open files');
    await expect(again.send(reply, {})).rejects.toMatchObject({ code: 'not_found' });
  });
});
