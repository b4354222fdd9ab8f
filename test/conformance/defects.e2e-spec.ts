import type { Report } from '../../conformance/src/index.js';
import { checkSmallServer } from './check-small-server.js';

/** Each defect of the small server, and the check that names it. */
const DEFECTS: Record<string, string> = {
  // The specification.
  'any-key': 'core.auth.invalid-key',
  'any-scheme': 'core.auth.other-scheme',
  'filter-after-limit': 'core.list.status-filter',
  envelope: 'core.list.is-array',
  'default-limit': 'core.list.default-limit',
  'limit-plus-one': 'core.list.limit',
  'limit-unbounded': 'manners.list.limit-digits',
  'no-filter': 'core.list.status-filter',
  'created-200': 'core.create.returns-pet',
  'id-as-string': 'core.create.returns-pet',
  'id-reused': 'core.create.unique-ids',
  'any-status': 'core.create.unknown-status',
  'category-optional': 'core.create.required-members',
  'category-fraction': 'core.create.types-of-members',
  'name-of-any-type': 'core.create.types-of-members',
  'not-found-empty': 'core.get.not-found',
  'error-without-message': 'core.errors.body',
  'status-of-error-wrong': 'core.errors.body',
  'rate-limit-twice': 'core.headers.rate-limit',
  'reset-in-seconds': 'core.rate-limit.values',
  '401-without-rate-limit': 'core.headers.rate-limit-without-key',
  // Errors and headers.
  'one-code-for-401': 'manners.auth.missing-key-code',
  'no-challenge': 'manners.auth.challenge',
  'body-before-key': 'manners.order.key-before-content',
  'trailing-slash': 'manners.errors.unknown-path',
  'no-allow': 'manners.errors.method',
  'no-malformed-json': 'manners.errors.malformed-json',
  'any-media-type': 'manners.errors.media-type',
  'any-charset': 'manners.errors.charset',
  'no-body-limit': 'manners.errors.body-too-large',
  'unknown-query': 'manners.errors.unknown-query',
  'repeated-query': 'manners.errors.repeated-query',
  'first-fault-only': 'manners.errors.every-fault-of-body',
  'error-with-details': 'manners.errors.members',
  'stack-in-error': 'manners.errors.no-internals',
  'error-type': 'manners.errors.content-type',
  'no-nosniff': 'manners.headers.nosniff',
  'success-public': 'manners.headers.cache-control-of-success',
  'errors-cacheable': 'manners.headers.cache-control-of-errors',
  'no-ratelimit-fields': 'manners.headers.rate-limit-fields',
  'request-id-ignored': 'manners.request-id.echoed',
  'request-id-long': 'manners.request-id.replaced',
  // Pages.
  'limit-forms': 'manners.list.limit-digits',
  'no-link': 'manners.list.link',
  'link-relative': 'manners.list.link',
  'link-without-filter': 'manners.list.link',
  descending: 'manners.list.order',
  'cursor-inclusive': 'manners.list.pages',
  'cursor-ignored': 'manners.list.cursor-opaque',
  'cursor-of-any-filter': 'manners.list.cursor-of-filter',
  // Creating.
  'location-of-list': 'manners.create.location',
  'ids-not-increasing': 'manners.create.increasing-ids',
  'default-status': 'manners.create.status-unset',
  'status-null': 'manners.create.status-null',
  'status-null-shown': 'core.list.is-array',
  'name-in-code-units': 'manners.create.name-length',
  'name-invisible': 'manners.create.name-visible',
  'name-with-control': 'manners.create.name-unicode',
  'name-trimmed': 'manners.create.name-unchanged',
  'name-normalised': 'manners.create.name-unchanged',
  'unknown-members': 'manners.create.unknown-members',
  'repeated-member': 'manners.create.repeated-member',
  'category-of-any-type': 'manners.int64.string',
  'int64-rounded': 'manners.int64.stored',
  'int64-wraps': 'manners.int64.out-of-range',
  'one-point-zero': 'manners.int64.number-forms',
  'id-not-canonical': 'manners.get.canonical-id',
  'no-deprecation': 'manners.get.deprecation',
  'no-idempotency': 'manners.idempotency.replay',
  'replay-unmarked': 'manners.idempotency.replayed-header',
  'other-body-replayed': 'manners.idempotency.other-body',
  'errors-stored': 'manners.idempotency.after-400',
  // Conditional requests.
  'etag-weak': 'manners.conditional.etag',
  'etag-without-link': 'manners.conditional.covers-link',
  'if-none-match-exact': 'manners.conditional.not-modified',
  'always-304': 'manners.conditional.other-tag',
  '304-without-etag': 'manners.conditional.headers-of-304',
  'head-without-length': 'manners.conditional.head',
  // HTTP/1.1.
  'second-host': 'manners.http.host-second',
  'host-missing': 'manners.http.host-missing',
  'no-continue': 'manners.http.expect-continue',
  // Keys and limits.
  'scheme-case-sensitive': 'quota.key.scheme',
  'tab-in-authorization': 'quota.key.rejected-forms',
  'no-scopes': 'quota.scope.write',
  'rotation-without-grace': 'quota.rotation',
  'revocation-ignored': 'quota.revocation',
  'address-not-counted': 'quota.address',
  '401-counts-against-key': 'quota.counts.not-without-key',
  'window-not-utc': 'quota.windows.utc',
  'headers-of-day': 'quota.headers.fullest-window',
  'one-too-many': 'quota.limit.admitted',
  'rejected-counted': 'quota.limit.rejected-not-counted',
  'retry-after-short': 'quota.limit.admitted-again',
  'no-retry-after': 'quota.limit.retry-after',
  '429-code': 'quota.limit.error',
  'path-before-quota': 'quota.limit.before-content',
  // Concurrency and nodes.
  'claim-after-insert': 'exact.idempotency.one-pet',
  'request-id-of-another': 'exact.requests.share-nothing',
  'nodes-count-apart': 'exact.nodes.quota',
  'nodes-repeat-apart': 'exact.nodes.idempotency',
};

/** At most so many checks find a defect besides the one that names it. */
const OTHERS = 3;

const failedOf = ({ checks }: Report) =>
  checks.filter(({ status }) => status === 'failed').map(({ name }) => name);

describe('the small server', () => {
  it('passes every check without defects', async () => {
    const { report } = await checkSmallServer([], { hasProxy: true });
    const others = report.checks.filter(({ status }) => status !== 'passed');
    expect(others.map(({ name, reason, faults }) => [name, reason, faults])).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.petsCreated).toBeLessThanOrEqual(200);
    // One window.
    expect(report.waitedSeconds).toBeLessThanOrEqual(62);
  });

  it.each(Object.entries(DEFECTS))('with the defect %s fails %s', async (defect, name) => {
    const { report } = await checkSmallServer([defect]);
    const failed = failedOf(report);
    expect(failed).toContain(name);
    expect([failed.length <= OTHERS + 1, failed]).toEqual([true, failed]);
    expect(report.ok).toBe(false);
  });

  it('fails where no pet can be created, instead of skipping what needs one', async () => {
    const { report } = await checkSmallServer(['no-create']);
    expect(failedOf(report)).toContain('core.create.returns-pet');
    expect(report.ok).toBe(false);
  });
});
