import { runConformance, type Options } from '../../conformance/src/index.js';
import { storeOrders } from '../../examples/store-orders/src/index.js';
import { describeWith } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { Nginx } from '../support/nginx.js';
import { startService, type TestService } from '../support/start-service.js';

/** It may wait for the end of a window. */
const PATIENCE_MS = 180_000;

/** @param hasSmallKey whether the checks that use up a key are run */
async function keysOf(service: TestService, hasSmallKey: boolean): Promise<Options['keys']> {
  const keyOf = async (...settings: Parameters<TestService['client']>) =>
    (await service.client(...settings)).key!;
  return {
    main: await keyOf(),
    ...(hasSmallKey && { small: await keyOf({ plan: 'free' }) }),
    read: await keyOf({ scopes: ['pets:read'] }),
    spare: await keyOf({ scopes: ['pets:read', 'key:rotate'] }),
  };
}

/** Expects that no check fails, and that only the named groups are skipped. */
async function expectToPass(options: Options, ...skipped: string[]): Promise<void> {
  const { checks } = await runConformance(options);
  const others = checks.filter(
    ({ name, status }) =>
      status !== 'passed' &&
      !(status === 'skipped' && skipped.some((group) => name.startsWith(`${group}.`))),
  );
  expect(
    others.map(({ name, reason, faults, exchanges }) => [name, reason, faults, exchanges]),
  ).toEqual([]);
}

const NEEDS_A_PROXY = 'manners.smuggling';
const NEEDS_NODES = 'exact.nodes';

describe('the service', () => {
  it(
    'passes every level of the conformance suite',
    async () => {
      await using service = await startService();
      const options = { url: `${service.origin}/v1`, keys: await keysOf(service, true) };
      await expectToPass(options, NEEDS_A_PROXY, NEEDS_NODES);
    },
    PATIENCE_MS,
  );

  it('passes the conformance suite with the extension store-orders', async () => {
    const extensions = [storeOrders];
    await using service = await startService({ extensions, migrate: true });
    const keys = await keysOf(service, false);
    const options = { url: `${service.origin}/v1`, keys };
    await expectToPass(options, NEEDS_A_PROXY, NEEDS_NODES, 'quota.limit', 'exact.quota');
  });
});

describeWith('nginx', 'the service behind nginx', (program) => {
  it('passes the conformance suite, request smuggling included', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/v1`;
    const env = { PUBLIC_BASE_URL: url, TRUST_PROXY: '127.0.0.1' };
    await using service = await startService({ env });
    const node = Number(new URL(service.origin).port);
    await using nginx = new Nginx(program, port, [node, node]);
    await nginx.start();
    const keys = await keysOf(service, false);
    const options = { url, keys, proxy: url };
    await expectToPass(options, NEEDS_NODES, 'quota.limit', 'exact.quota');
  });
});
