import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';
import type { Config } from '../core/config/config.js';
import { explainAt } from '../core/config/fixes.js';
import { fileOf } from '../core/database/data-source-options.js';
import { isServed } from '../core/database/sqlite/sqlite.file.js';
import { failed, type Finding, ok } from './doctor.findings.js';

const TIMEOUT_MS = 1_000;

/** The paths of this service on its ports, each with a part of the response. */
const PROBES = [
  ['', '/health/live', '"status":"ok"'],
  ['admin', '/openapi.json', 'admin'],
  ['metrics', '/metrics', 'petstore_'],
] as const;
type Probe = (typeof PROBES)[number];

/** Listens on every port, as a start does. The server of this database may have them already. */
export async function checkPorts(config: Config): Promise<Finding[]> {
  const file = fileOf(config.databaseUrl);
  const mayBeOwn = file === undefined || isServed(file);
  // All are open at the same time: two of them may be equal.
  const servers: Server[] = [];
  const findings: Finding[] = [];
  for (const probe of PROBES) {
    const [name, path, mark] = probe;
    const [port, host] = addressOf(config, name);
    // The system chooses a free port for `PORT=0`; the other two are turned off.
    if (port === 0) continue;
    const server = createServer();
    servers.push(server);
    try {
      await once(server.listen(port, host), 'listening');
    } catch (error) {
      if (mayBeOwn && (await responds(port, host, path, mark))) continue;
      const prefix = name && `${name.toUpperCase()}_`;
      const { reason, fix } = explainAt('port', error, prefix, `correct ${prefix}PORT`);
      findings.push(failed('ports', `${prefix}PORT cannot be used: ${reason}`, fix));
    }
  }
  for (const server of servers) server.close();
  return findings.length > 0 ? findings : [ok('ports', 'free, or used by the running server')];
}

function addressOf(config: Config, name: Probe[0]): [port: number, host: string] {
  if (name === 'admin') return [config.adminPort, config.adminHost];
  return name === '' ? [config.port, config.host] : [config.metricsPort, config.metricsHost];
}

async function responds(port: number, host: string, path: string, mark: string): Promise<boolean> {
  const address = isIPv6(host) ? `[${host}]` : host;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`http://${address}:${port}${path}`, { signal });
    return response.ok && (await response.text()).includes(mark);
  } catch {
    return false;
  }
}
