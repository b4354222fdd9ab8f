// The report as text, JUnit and badge. The JSON is the report itself.

/** Replaces keys by their last 4 characters, keys that the server issued included. */
export function redactor(keys) {
  return (text) => {
    let redacted = text;
    for (const key of Object.values(keys)) {
      if (key) redacted = redacted.replaceAll(key, `...${key.slice(-4)}`);
    }
    return redacted.replace(/\bps[ka]_[0-9A-Za-z]{8,}/g, (key) => `...${key.slice(-4)}`);
  };
}

/** One result as text: one line, and for a failure what was sent and received. */
export function line(result) {
  const { name, status, isExpected, reason, sentence, source, rfc } = result;
  if (status === 'skipped') return `skipped  ${name}: ${reason}`;
  if (status === 'passed') {
    return isExpected ? `PASSED   ${name}, although it is an expected failure` : `passed   ${name}`;
  }
  if (isExpected) return `expected ${name}: ${result.faults[0]}`;
  const basis = rfc === undefined ? source : `${source}; ${rfc}`;
  return [
    `FAILED   ${name}`,
    `         ${sentence} (${basis})`,
    ...result.faults.map((fault) => `         - ${fault}`),
    ...result.exchanges.flatMap((exchange) => ['', ...indented(exchange)]),
    '',
  ].join('\n');
}

function indented(text) {
  return text.split('\n').map((each) => `         ${each}`);
}

/** The end of the report as text. @param {import('./index.d.ts').Report} report */
export function text(report) {
  const { levels, requests, petsCreated, durationMs, waitedSeconds, checks } = report;
  const lines = Object.entries(levels)
    .filter(([, counts]) => total(counts) > 0)
    .map(([level, { passed, failed, skipped }]) => {
      const parts = [`${passed} passed`, `${failed} failed`, `${skipped} skipped`];
      return `${level.padEnd(8)} ${parts.join(', ')}`;
    });
  const unexpected = checks.filter(
    ({ status, isExpected }) => status !== 'skipped' && (status === 'failed') !== isExpected,
  );
  const seconds = Math.round(durationMs / 100) / 10;
  return [
    '',
    ...lines,
    `${requests} requests in ${seconds} s (${waitedSeconds} s waiting); ${petsCreated} pets were created`,
    unexpected.length === 0
      ? `${report.url} conforms to version ${report.version} as far as it was checked`
      : `${report.url} does not conform: ${unexpected.map(({ name }) => name).join(', ')}`,
    '',
  ].join('\n');
}

const total = ({ passed, failed, skipped }) => passed + failed + skipped;

/** The report in JUnit's format. @param {import('./index.d.ts').Report} report */
export function junit({ levels, checks, startedAt, durationMs }) {
  const suites = Object.entries(levels).filter(([, counts]) => total(counts) > 0);
  const seconds = durationMs / 1000;
  const body = suites.map(([level, counts]) => {
    const cases = checks.filter((check) => check.level === level).map(testcase);
    const failures = checks.filter((check) => check.level === level && isFailure(check)).length;
    return `  <testsuite name="${level}" tests="${total(counts)}" failures="${failures}" skipped="${counts.skipped}" timestamp="${startedAt}">\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="pet-store-conformance" time="${seconds}">\n${body.join('\n')}\n</testsuites>\n`;
}

const isFailure = ({ status, isExpected }) =>
  status !== 'skipped' && (status === 'failed') !== isExpected;

function testcase(result) {
  const { name, level, status, isExpected } = result;
  const start = `    <testcase classname="${level}" name="${escape(name)}"`;
  if (status === 'skipped') {
    return `${start}><skipped message="${escape(result.reason)}"/></testcase>`;
  }
  if (!isFailure(result)) return `${start}/>`;
  const message = isExpected ? 'passed although it is an expected failure' : result.faults[0];
  return `${start}><failure message="${escape(message)}">${escape(line(result))}</failure></testcase>`;
}

function escape(value) {
  const names = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };
  return String(value)
    .replace(/[&<>"]/g, (character) => `&${names[character]};`)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '?');
}

/**
 * A badge: the levels of which every check passed. A level with a skipped check is not named.
 * @param {import('./index.d.ts').Report} report
 */
export function badge({ version, levels, ok }) {
  const complete = Object.entries(levels)
    .filter(([, { passed, failed, skipped }]) => passed > 0 && failed === 0 && skipped === 0)
    .map(([level]) => level);
  const isShown = ok && complete.length > 0;
  const [label, value] = [`pet store api ${version}`, isShown ? complete.join(' + ') : 'no level'];
  const [left, right] = [label, value].map((each) => each.length * 6.5 + 12);
  const colour = isShown ? '#2e7d32' : '#b71c1c';
  const textAt = (x, content) =>
    `<text x="${x}" y="14" fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">${escape(content)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escape(`${label}: ${value}`)}">`,
    `<title>${escape(`${label}: ${value}`)}</title>`,
    `<rect width="${left}" height="20" fill="#444"/>`,
    `<rect x="${left}" width="${right}" height="20" fill="${colour}"/>`,
    textAt(left / 2, label),
    textAt(left + right / 2, value),
    '</svg>\n',
  ].join('');
}
