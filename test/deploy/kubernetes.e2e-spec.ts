/* eslint-disable @typescript-eslint/no-explicit-any -- what a file holds is what a test is there to find out */
import { readdirSync, readFileSync } from 'node:fs';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';

const FOLDER = 'deploy/kubernetes';
const MODELS: readonly (new (data: any) => { validate(): void })[] = [
  Deployment,
  HorizontalPodAutoscaler,
  Job,
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

  it.each(['deployment.yaml', 'migration.job.yaml'])('%s runs without privileges', (file) => {
    const { spec } = read(file).spec.template;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('selects the nodes, and the nodes alone, everywhere', () => {
    const { labels } = deployment.spec.template.metadata;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(read('service.yaml').spec.selector).toEqual(labels);
    expect(read('poddisruptionbudget.yaml').spec.selector.matchLabels).toEqual(labels);
    for (const { labelSelector } of pod.topologySpreadConstraints) {
      expect(labelSelector.matchLabels).toEqual(labels);
    }
    expect(read('migration.job.yaml').spec.template.metadata.labels).not.toEqual(labels);
    expect(read('horizontalpodautoscaler.yaml').spec.scaleTargetRef).toEqual({
      apiVersion: deployment.apiVersion,
      kind: deployment.kind,
      name: deployment.metadata.name,
    });
  });
});
