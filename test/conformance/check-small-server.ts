import { runConformance, type Options, type Report } from '../../conformance/src/index.js';
import { SmallServer } from './small-server.js';

const READER = { scopes: ['pets:read'], perMinute: 20, perDay: 1_000 };

interface Settings {
  options?: Partial<Options>;
  /** Requests a minute of the main key. */
  perMinute?: number;
  hasProxy?: boolean;
}

/** Checks a small server of two nodes with all keys. A wait takes no time. */
export async function checkSmallServer(
  defects: string[],
  { options = {}, perMinute = 1_000_000, hasProxy = false }: Settings = {},
): Promise<{ report: Report }> {
  const started = performance.now();
  let skipped = 0;
  // Ten seconds after the beginning of a minute.
  const start = Date.UTC(2026, 10, 28, 12, 0, 10);
  const now = () => start + performance.now() - started + skipped;
  const server = new SmallServer(now, defects);
  const scopes = ['pets:read', 'pets:write'];
  server.keys.set('psk_main', { client: 'main', scopes, perMinute, perDay: 10_000_000 });
  for (const client of ['small', 'read', 'spare']) {
    server.keys.set(`psk_${client}`, { client, ...READER });
  }
  const [url = '', ...nodes] = await server.listen();
  try {
    const report = await runConformance({
      url,
      nodes,
      ...(hasProxy && { proxy: url }),
      keys: { main: 'psk_main', small: 'psk_small', read: 'psk_read', spare: 'psk_spare' },
      now,
      sleep: (ms) => {
        skipped += Math.max(0, ms);
        return Promise.resolve();
      },
      ...options,
    });
    return { report };
  } finally {
    server.close();
  }
}
