/* eslint-disable @typescript-eslint/no-explicit-any -- what a file holds is what a test is there to find out */
import { readdirSync, readFileSync } from 'node:fs';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';

const FOLDER = 'deploy/kubernetes';
const MODELS: readonly (new (data: any) => { validate(): void })[] = [
  Deployment,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  ConfigMap,
  Secret,
  Service,
];

const read = (file: string) => parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
const manifests = files.filter((file) => file !== 'kustomization.yaml');

/**
 * The schemas allow fields that they do not know. A validator reads every field that it does know, so what
 * it leaves unread is a field that Kubernetes would ignore: a misspelt one.
 */
function watchReads(value: any, path: string, unread: Set<string>): any {
  if (typeof value !== 'object' || value === null) return value;
  const copy: any = Array.isArray(value) ? [] : {};
  for (const [name, child] of Object.entries(value)) {
    const childPath = `${path}.${name}`;
    const watched = watchReads(child, childPath, unread);
    unread.add(childPath);
    Object.defineProperty(copy, name, {
      enumerable: true,
      configurable: true,
      get: () => (unread.delete(childPath), watched),
    });
  }
  return copy;
}

function faultsOf(manifest: any): string[] {
  const model = MODELS.find(
    (candidate: any) =>
      candidate.apiVersion === manifest.apiVersion && candidate.kind === manifest.kind,
  );
  if (model === undefined) return [`${manifest.apiVersion} ${manifest.kind} is not known`];
  const unread = new Set<string>();
  const watched = watchReads(manifest, '', unread);
  try {
    model.prototype.validate.call(Object.setPrototypeOf(watched, model.prototype));
  } catch (error) {
    return [(error as Error).message];
  }
  return [...unread].map((path) => `${path} is not a field`);
}

describe('deploy/kubernetes', () => {
  const deployment = read('deployment.yaml');
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const configMap = read('configmap.yaml');

  it.each(manifests)('%s follows the schema of its kind', (file) => {
    expect(faultsOf(read(file))).toEqual([]);
  });

  it.each([
    ['a misspelt field', (spec: any) => (spec.template.spec.containers[0].imagePullPolice = 'x')],
    [
      'a wrong type',
      (spec: any) => (spec.template.spec.containers[0].ports[0].containerPort = 'x'),
    ],
    ['a missing field', (spec: any) => delete spec.template.spec.containers[0].name],
  ])('the check sees %s', (_fault, breakIt) => {
    const broken = read('deployment.yaml');
    breakIt(broken.spec);
    expect(faultsOf(broken)).toHaveLength(1);
  });

  it('lists every manifest but the example of a secret, and puts none into a namespace', () => {
    const { resources } = read('kustomization.yaml');
    expect([...resources, 'secret.example.yaml'].sort()).toEqual([...manifests].sort());
    for (const file of manifests) expect(read(file).metadata).not.toHaveProperty('namespace');
  });

  it('has a configuration that the service accepts', () => {
    const { stringData } = read('secret.example.yaml');
    const config = loadConfig({ ...configMap.data, ...stringData });
    expect(config.databaseUrl).toMatch(/^postgres:/);
    expect(config.redisUrl).toMatch(/^rediss:/);
  });

  it('gives a node the time to end by itself', () => {
    const [, , script] = container.lifecycle.preStop.exec.command;
    const preStopSeconds = Number(/, (\d+)\)/.exec(script)![1]) / 1000;
    const graceSeconds = Number(configMap.data.SHUTDOWN_GRACE_SECONDS);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(preStopSeconds + graceSeconds);
  });

  it('probes life and readiness apart', () => {
    expect(container.livenessProbe.httpGet.path).toBe('/health/live');
    expect(container.readinessProbe.httpGet.path).toBe('/health/ready');
  });

  it('runs without privileges', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    for (const { securityContext } of [...pod.initContainers, ...pod.containers]) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('migrates before a node of a new version serves, with the same image and configuration', () => {
    const [migration] = pod.initContainers;
    expect(migration.args).toEqual(['migrate']);
    expect(migration.image).toBe(container.image);
    expect(migration.envFrom).toEqual(container.envFrom);
  });

  it('takes no node for well that has not been so for a while', () => {
    expect(deployment.spec.minReadySeconds).toBeGreaterThanOrEqual(5);
  });

  it('holds no more connections than PostgreSQL has for others than itself', () => {
    const { maxReplicas } = read('horizontalpodautoscaler.yaml').spec;
    const { maxSurge } = deployment.spec.strategy.rollingUpdate;
    const poolSize = Number(configMap.data.DATABASE_POOL_SIZE);
    const [observers, migration, max, reserved] = [2, 2, 100, 3];
    const held = (maxReplicas + maxSurge) * (poolSize + observers) + migration;
    expect(held).toBeLessThanOrEqual(max - reserved);
  });

  it('lets nobody in but by the port of the service, and out to what it needs', () => {
    const { spec } = read('networkpolicy.yaml');
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(spec.ingress).toHaveLength(1);
    expect(spec.ingress[0].from).toHaveLength(1);
    expect(spec.ingress[0].ports).toEqual([{ protocol: 'TCP', port: container.ports[0].name }]);
    const ports = spec.egress.flatMap((rule: any) => rule.ports.map(({ port }: any) => port));
    const { stringData } = read('secret.example.yaml');
    for (const url of [stringData.DATABASE_URL, stringData.REDIS_URL]) {
      expect(ports).toContain(Number(new URL(url).port));
    }
  });

  it('selects the nodes, and the nodes alone, everywhere', () => {
    const { labels } = deployment.spec.template.metadata;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(read('service.yaml').spec.selector).toEqual(labels);
    expect(read('poddisruptionbudget.yaml').spec.selector.matchLabels).toEqual(labels);
    for (const { labelSelector } of pod.topologySpreadConstraints) {
      expect(labelSelector.matchLabels).toEqual(labels);
    }
    expect(read('networkpolicy.yaml').spec.podSelector.matchLabels).toEqual(labels);
    expect(read('horizontalpodautoscaler.yaml').spec.scaleTargetRef).toEqual({
      apiVersion: deployment.apiVersion,
      kind: deployment.kind,
      name: deployment.metadata.name,
    });
  });
});
