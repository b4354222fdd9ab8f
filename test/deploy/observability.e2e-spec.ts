/* eslint-disable @typescript-eslint/no-explicit-any -- what a file holds is what a test is there to find out */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';
import { describeWith } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { metricLines } from '../support/metrics.js';
import { startService } from '../support/start-service.js';

const FOLDER = 'deploy/observability';
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8');
const dashboard = JSON.parse(read('grafana/dashboards/petstore.json'));
const alerts: any[] = parse(read('alerts.yaml')).groups[0].rules;
const operating = readFileSync('docs/operating.md', 'utf8');
const EXPRESSIONS: string[] = [
  ...dashboard.panels.flatMap(({ targets }: any) => targets.map(({ expr }: any) => expr)),
  ...alerts.map(({ expr }) => expr),
];

/** The metrics of a service that has just started, each with its type. */
async function typedMetrics(): Promise<string[]> {
  await using service = await startService({ env: { METRICS_PORT: String(await freePort()) } });
  const lines = await metricLines(service);
  return lines.flatMap((line) => /^# TYPE (.+)/.exec(line)?.[1] ?? []);
}

async function metrics(): Promise<string[]> {
  return (await typedMetrics()).map((line) => line.split(' ')[0]!);
}

describe('what shows the metrics', () => {
  it('asks for metrics that exist, and for each that the service counts itself', async () => {
    const known = new Set(await metrics());
    const asked = new Set(
      EXPRESSIONS.flatMap((text) => text.match(/petstore_\w+/g) ?? []).map((name) =>
        known.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ''),
      ),
    );
    expect([...asked].filter((name) => !known.has(name))).toEqual([]);
    const ours = [...known].filter((name) => !/_(?:process|nodejs)_/.test(name));
    expect(ours.filter((name) => !asked.has(name))).toEqual([
      'petstore_quota_store_switches_total',
    ]);
  });

  describeWith('promtool', 'under promtool', (promtool) => {
    const run = (...args: string[]) => spawnSync(promtool, args, { cwd: FOLDER, encoding: 'utf8' });

    it('raises each alert when it should, and none for a service that is well', () => {
      const { status, stdout, stderr } = run('test', 'rules', 'alerts.test.yaml');
      expect({ status, output: stdout + stderr }).toMatchObject({ status: 0 });
      const tested = read('alerts.test.yaml');
      for (const { alert } of alerts) expect(tested).toContain(`alertname: ${alert}`);
    });

    it('is configured without fault', () => {
      const { status, stdout } = run('check', 'config', 'prometheus.yaml', 'receiver.yaml');
      expect({ status, stdout }).toMatchObject({ status: 0 });
    });
  });
});

describe('docs/operating.md', () => {
  it('tells of every metric that the service counts itself, its type, and of no other', async () => {
    const ours = (await typedMetrics()).filter((name) => !/_(?:process|nodejs)_/.test(name));
    const rows = operating.matchAll(/^\| `(petstore_\w+)` +\| (\w+)/gm);
    expect(Array.from(rows, ([, name, type]) => `${name} ${type}`).sort()).toEqual(ours.sort());
  });

  it.each(alerts.map(({ alert }) => alert as string))('has a runbook for %s', (alert) => {
    expect(operating).toContain(`\n### ${alert}\n`);
  });

  it('tells of every setting', () => {
    const example = readFileSync('.env.example', 'utf8');
    const settings = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(settings.length).toBeGreaterThan(20);
    for (const name of settings) expect(operating).toContain(`\`${name}\``);
  });

  it('names commands that there are, and files that exist', () => {
    const commands = [...operating.matchAll(/`petstore ([a-z]+)/g)].map(([, name]) => name!);
    const program = readFileSync('README.md', 'utf8') + readFileSync('src/cli/program.ts', 'utf8');
    for (const command of new Set(commands)) expect(program).toContain(command);
    const files = [...operating.matchAll(/\]\(((?:\.\.\/)?[\w./-]+?)(?:#[\w-]+)?\)/g)];
    for (const [, file] of files) expect([file, existsSync(`docs/${file}`)]).toEqual([file, true]);
  });
});

describe.each(['petstore.service', 'petstore@.service'])('deploy/systemd/%s', (name) => {
  const unit = readFileSync(`deploy/systemd/${name}`, 'utf8').replaceAll('%i', '3001');
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

  it('has a configuration that the service accepts, and waits for its end', () => {
    const environment = Object.fromEntries(
      value('Environment')!
        .split(' ')
        .map((pair) => pair.split(/=(.*)/s)),
    );
    const { production, logFormat, shutdownGraceSeconds } = loadConfig(environment);
    expect({ production, logFormat }).toEqual({ production: true, logFormat: 'json' });
    expect(Number(value('TimeoutStopSec'))).toBeGreaterThan(shutdownGraceSeconds);
  });

  it('keeps what it stores to itself', () => {
    if (unit.includes('StateDirectory=')) expect(value('StateDirectoryMode')).toBe('0700');
    expect(value('UMask')).toBe('0077');
    expect([value('DynamicUser'), value('NoNewPrivileges')]).toEqual(['yes', 'yes']);
  });
});
