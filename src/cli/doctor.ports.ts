import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';
import type { Config } from '../core/config/config.js';
import { explainAt, fixOf } from '../core/config/fixes.js';
import { fileOf } from '../core/database/data-source-options.js';
import { isServed } from '../core/database/sqlite/sqlite.file.js';
import { failed, type Finding, ok } from './doctor.findings.js';

/** The server may be busy. */
const TIMEOUT_MS = 5_000;

type Probe = ReturnType<typeof probesOf>[number];

/** Listens on every port, as a start does. The server of this database may have them already. */
export async function checkPorts(config: Config): Promise<Finding[]> {
  const file = fileOf(config.databaseUrl);
  const mayRun = file === undefined || isServed(file);
  const findings: Finding[] = [];
  for (const probe of probesOf(config)) {
    const { prefix, port, host } = probe;
    // The system chooses a free port for `PORT=0`; the other two are turned off.
    if (port === 0) continue;
    const server = createServer();
    try {
      await once(server.listen(port, host), 'listening');
      server.close();
    } catch (error) {
      const isInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      const found = mayRun && isInUse ? await request(probe) : '';
      if (typeof found === 'string' && probe.mark.test(found)) continue;
      const { reason, fix } = explainAt('port', error, prefix, `correct ${prefix}PORT`);
      const detail = `${prefix}PORT cannot be used: ${reason}`;
      findings.push(failed('ports', detail, fixOf('port', found, prefix) ?? fix));
    }
  }
  return findings.length > 0 ? findings : [ok('ports', 'free, or used by the running server')];
}

/** The ports of this service, each with a path and a part of its response. */
function probesOf({ port, host, adminPort, adminHost, metricsPort, metricsHost }: Config) {
  return [
    { prefix: '', port, host, path: '/health/ready', mark: /"counters":/ },
    {
      prefix: 'ADMIN_',
      port: adminPort,
      host: adminHost,
      path: '/',
      // Its pages have a limit per address.
      mark: /Pet Store console|rate_limit_exceeded/,
    },
    {
      prefix: 'METRICS_',
      port: metricsPort,
      host: metricsHost,
      path: '/metrics',
      mark: /petstore_/,
    },
  ];
}

/** Returns the text of the response, or the error, such as a `TimeoutError`. */
async function request({ port, host, path }: Probe): Promise<unknown> {
  const address = isIPv6(host) ? `[${host}]` : host;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`http://${address}:${port}${path}`, { signal });
    return await response.text();
  } catch (error) {
    return error;
  }
}
