import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '../support/eventually.js';
import { saveLastUses } from '../support/background.js';
import { jsonInProcess } from '../support/run-program.js';
import { FakeClock } from '../support/clock.js';
import { startService } from '../support/start-service.js';

describe('the last use of a key', () => {
  it('is saved for each key, and never moves back', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const lastUses = async () => {
      await saveLastUses(service);
      const keys: { id: string; lastUsedAt: string | null }[] = await jsonInProcess(
        service.config.databaseUrl,
        ...['keys', 'list'],
      );
      const timeOf = (iso: string | null) => iso && Date.parse(iso);
      return Object.fromEntries(keys.map(({ id, lastUsedAt }) => [id, timeOf(lastUsedAt)]));
    };
    const [zoo, ark] = [await service.client(), await service.client()];
    const now = clock.now();
    expect(await lastUses()).toEqual({ [zoo.keyId!]: null, [ark.keyId!]: null });
    await zoo.get('/v1/pets');
    expect(await lastUses()).toEqual({ [zoo.keyId!]: now, [ark.keyId!]: null });
    clock.advance(7_000);
    for (const client of [zoo, ark]) await client.get('/v1/pets');
    expect(await lastUses()).toEqual({ [zoo.keyId!]: now + 7_000, [ark.keyId!]: now + 7_000 });
    clock.advance(-5_000);
    await zoo.get('/v1/pets');
    expect(await lastUses()).toMatchObject({ [zoo.keyId!]: now + 7_000 });
  });

  it('has the address of a client that was gone before its request was read', async () => {
    await using service = await startService();
    const { key, keyId } = await service.client({ scopes: ['pets:read', 'key:rotate'] });
    const head = `POST /v1/key/rotate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const { hostname, port } = new URL(service.origin);
    const audit = ['keys', 'audit', keyId!];
    await eventually(async () => {
      // Repeated, because the server may notice the end of the connection before its request.
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(head, () => socket.resetAndDestroy());
      await once(socket, 'close');
      type Record = { action: string; address: string | null };
      const records: Record[] = await jsonInProcess(service.config.databaseUrl, ...audit);
      const rotation = records.find(({ action }) => action === 'key.rotate');
      if (rotation) expect(rotation.address).toBe('127.0.0.1');
      return rotation !== undefined;
    });
  });
});
