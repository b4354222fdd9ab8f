import { once } from 'node:events';
import { createServer, isIPv6, type Server } from 'node:net';
import type { Config } from '../config/config.js';
import { explainAt } from '../config/fixes.js';
import { fileOf } from '../database/data-source-options.js';
import { isServed } from '../database/sqlite/sqlite.file.js';
import { failed, type Finding, ok } from './doctor.findings.js';

const TIMEOUT_MS = 1_000;

interface Port {
  /** The prefix of its settings. */
  prefix: '' | 'ADMIN_' | 'METRICS_';
  port: number;
  host: string;
  /** A path of this service on the port, and a part of its response. */
  path: string;
  mark: string;
}

/** Listens on every port, as a start does. The server of this database may have them already. */
export async function checkPorts(config: Config): Promise<Finding[]> {
  const { port, host, adminPort, adminHost, metricsPort, metricsHost } = config;
  const file = fileOf(config.databaseUrl);
  const mayBeOwn = file === undefined || isServed(file);
  const ports: Port[] = [
    { prefix: '', port, host, path: '/health/live', mark: '"status":"ok"' },
    { prefix: 'ADMIN_', port: adminPort, host: adminHost, path: '/openapi.json', mark: 'admin' },
    {
      prefix: 'METRICS_',
      port: metricsPort,
      host: metricsHost,
      path: '/metrics',
      mark: 'petstore_',
    },
  ];
  // All at the same time: two of them may be equal.
  const servers: Server[] = [];
  const findings: Finding[] = [];
  for (const each of ports) {
    // The system chooses a free port for `PORT=0`; the other two are turned off.
    if (each.port !== 0) findings.push(...(await checkPort(each, servers, mayBeOwn)));
  }
  for (const server of servers) server.close();
  return findings.length > 0 ? findings : [ok('ports', 'free, or used by the running server')];
}

async function checkPort(each: Port, servers: Server[], mayBeOwn: boolean): Promise<Finding[]> {
  const server = createServer();
  try {
    server.listen(each.port, each.host);
    await once(server, 'listening');
    servers.push(server);
    return [];
  } catch (error) {
    if (mayBeOwn && (await isPetStore(each))) return [];
    const setting = `${each.prefix}PORT`;
    const { reason, fix } = explainAt('port', error, each.prefix, `correct ${setting}`);
    return [failed('ports', `${setting} cannot be used: ${reason}`, fix)];
  }
}

async function isPetStore({ host, port, path, mark }: Port): Promise<boolean> {
  const name = isIPv6(host) ? `[${host}]` : host;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`http://${name}:${port}${path}`, { signal });
    return response.ok && (await response.text()).includes(mark);
  } catch {
    return false;
  }
}
