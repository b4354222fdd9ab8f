import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { freePort } from '../support/free-port.js';
import { metricLines } from '../support/metrics.js';
import { runInProcess as run } from '../support/run-program.js';
import { startService } from '../support/start-service.js';

const read = (file: string) => readFileSync(file, 'utf8');
const GUIDE = read('docs/operating.md');
const COMMANDS = [...GUIDE.matchAll(/^petstore .+$/gm)].map(([command]) => command);
const OBSERVABILITY = 'deploy/observability';
interface Alert {
  alert: string;
  expr: string;
  annotations: { runbook: string };
}
const { groups } = load(read(`${OBSERVABILITY}/alerts.yaml`)) as { groups: { rules: Alert[] }[] };
const alerts = groups[0]!.rules;

/** Splits a command into words as a shell does, without what follows a pipe or a comment. */
function wordsOf(command: string): string[] {
  const [own] = command.split(/ [|#] /);
  return Array.from(own!.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!);
}

describe('docs/operating.md', () => {
  const environment = { ...process.env };
  const directory = mkdtempSync(join(tmpdir(), 'petstore-operating-'));
  let keyId: string;
  /** `name type` of each metric of the service after its start. */
  let metrics: string[];
  beforeAll(async () => {
    await using service = await startService({ env: { METRICS_PORT: String(await freePort()) } });
    const types = (await metricLines(service)).flatMap(
      (line) => /^# TYPE (.+)/.exec(line)?.[1] ?? [],
    );
    metrics = types.filter((line) => /^petstore_(?!process_|nodejs_)/.test(line));
    Object.assign(process.env, {
      ...{ DATABASE_URL: `sqlite:${directory}/served.db`, PORT: '0', METRICS_PORT: '0' },
    });
    await run('migrate');
    const { out } = await run('keys', 'issue', '--name', 'City zoo', '--plan', 'free', '--json');
    keyId = (JSON.parse(out) as { id: string }).id;
  });
  afterAll(() => {
    process.env = environment;
    rmSync(directory, { recursive: true });
  });

  it.each(COMMANDS)('contains only working commands: %s', async (command) => {
    const [, ...argv] = wordsOf(command).map((word) =>
      word.replace('KEY_ID', keyId).replace('/var/backups', directory),
    );
    const { code, out, err } = await run(...argv);
    // A secret stands alone on standard output, and its description on standard error.
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('error:') });
    expect(out).not.toBe('');
  });

  it('lists each metric with its type, each setting, and only files that exist', () => {
    const rows = GUIDE.matchAll(/^\| `(petstore_\w+)` +\| (\w+)/gm);
    expect(Array.from(rows, ([, name, type]) => `${name} ${type}`).sort()).toEqual(metrics.sort());
    const settings = [...read('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name!);
    expect(settings.length).toBeGreaterThan(20);
    for (const name of settings) expect(GUIDE).toContain(`\`${name}\``);
    const files = [...GUIDE.matchAll(/\]\(((?:\.\.\/)?[\w./-]+?)(?:#[\w-]+)?\)/g)];
    for (const [, file] of files) expect([file, existsSync(`docs/${file}`)]).toEqual([file, true]);
  });

  it('has a runbook for each alert, and each alert has a test', () => {
    const tests = read(`${OBSERVABILITY}/alerts.test.yaml`);
    for (const { alert, annotations } of alerts) {
      expect(GUIDE).toContain(`\n### ${alert}\n`);
      const runbook = `docs/operating.md#${alert.toLowerCase()}`;
      expect(annotations.runbook).toBe(runbook);
      expect(tests).toContain(`alertname: ${alert}`);
      expect(tests).toContain(`runbook: ${runbook}\n`);
    }
  });

  it('dashboard and alerts use existing metrics only', () => {
    const dashboard = read(`${OBSERVABILITY}/grafana/dashboards/petstore.json`);
    const text = dashboard + alerts.map(({ expr }) => expr).join('\n');
    const known = new Set(metrics.map((line) => line.split(' ')[0]!));
    const used = text.match(/petstore_(?!process_|nodejs_)\w+/g)!;
    const unknown = used.filter(
      (name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, '')),
    );
    expect(unknown).toEqual([]);
  });
});

it.each(['README.md', 'CONTRIBUTING.md', 'docs/scaling.md'])(
  '%s names only npm scripts that exist',
  (document) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
    const named = read(document).matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g);
    for (const [, name] of named) expect(scripts).toHaveProperty([name!]);
  },
);
