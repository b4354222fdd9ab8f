// Every stored text reaches the page as a text node or an attribute, never as HTML.
import { bareKey, storageOf } from '/docs/assets/key-storage.js';

const TOKEN = 'petstore-admin-token';
const storage = storageOf('sessionStorage');
const find = (selector) => document.querySelector(selector);
const [main, status, dialog] = ['main', '#status', 'dialog'].map(find);
const number = (value) => value.toLocaleString();
const say = (text, kind = '') => Object.assign(status, { textContent: text, className: kind });
const sumOf = (rows, name) => rows.reduce((sum, row) => sum + row[name], 0);

/**
 * Creates an element, `tag.class`. An object before its children has the attributes: functions
 * listen, true and false are properties.
 */
function el(name, ...children) {
  const [tag, kind] = name.split('.');
  const isPicture = tag === 'svg' || tag === 'rect';
  const namespace = isPicture ? 'http://www.w3.org/2000/svg' : 'http://www.w3.org/1999/xhtml';
  const element = document.createElementNS(namespace, tag);
  const given = children[0]?.constructor === Object && children.shift();
  for (const [attribute, value] of Object.entries({ class: kind, ...given })) {
    if (typeof value === 'function') element.addEventListener(attribute, value);
    else if (typeof value === 'boolean') element[attribute] = value;
    else if (value !== undefined) element.setAttribute(attribute, value);
  }
  element.append(...children.flat(Infinity).filter(Boolean));
  return element;
}

/** Does nothing while it runs, so that a double click sends one request. */
function oneAtATime(run) {
  let running;
  return (argument) => {
    running ??= Promise.resolve(run(argument)).finally(() => (running = undefined));
  };
}

/** A form that hands over its data. */
function form(attributes, send, ...children) {
  const sendOnce = oneAtATime(send);
  const submit = (event) => {
    event.preventDefault();
    sendOnce(new FormData(event.target));
  };
  return el('form', { ...attributes, submit }, ...children);
}

/** The fields of a form in index.html, with values by their names. */
function fields(form, values = {}) {
  const content = document.importNode(find(`#${form}-fields`).content, true);
  for (const field of content.querySelectorAll('[name]')) {
    const value = values[field.name];
    if (!value) continue;
    if (field.type === 'checkbox') field.checked = value.includes(field.value);
    else field.value = value;
  }
  return content;
}

const button = (text, run, kind = '') =>
  el(`button.${kind}`, { type: 'button', click: oneAtATime(run) }, text);
/** Whether the token may only read. */
let isViewer = false;
const VIEWER = 'This token has the role viewer: it may only read. An operator can change keys.';
/** A button that changes keys: none for a viewer. */
const changing = (...action) => !isViewer && button(...action);
const link = (href, text) => el('a', { href }, text);
const [code, row, p, b, h2] = ['code', 'div.row', 'p', 'b', 'h2'].map((name) =>
  el.bind(undefined, name),
);
const title = (text) => el('h1', { tabindex: '-1' }, text);

/** How far the server's clock is ahead of the browser's, in milliseconds. */
let aheadMs = 0;
/** The time by the server's clock: only that one decides what has expired. */
const now = () => Date.now() + aheadMs;

/** A time in the zone of the reader, which it names, with UTC in the tooltip. */
function time(value) {
  if (!value) return 'never';
  return el(
    'time',
    { datetime: value, title: `${value} (UTC)` },
    new Date(value).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' }),
  );
}

/** A table in a box that scrolls, also by keyboard. Cells of numbers are aligned to the right. */
function table(caption, head, rows, none) {
  if (!rows.length) return p(none);
  const cell = (content) => {
    if (typeof content === 'number') return el('td.number', number(content));
    const shown = el('td', content);
    shown.classList.toggle('words', shown.textContent.length > 40);
    return shown;
  };
  const titles = head.map((text, index) =>
    el(typeof rows[0][index] === 'number' ? 'th.number' : 'th', { scope: 'col' }, text),
  );
  const body = rows.map((cells) => el('tr', cells.map(cell)));
  const content = el('table', el('thead', el('tr', titles)), el('tbody', body));
  return el('div.wide', { tabindex: '0', role: 'region', 'aria-label': caption }, content);
}

/**
 * Bars by hour, in two parts. The table has the numbers.
 * @param hours each with its start and two counts, which `kinds` describe
 */
function chart(caption, kinds, hours) {
  if (!hours.length) return p('No requests in the last 24 hours.');
  const thisHour = Math.floor(now() / 3_600_000);
  const most = Math.max(...hours.map(([, lower, upper]) => lower + upper));
  const bars = hours.flatMap(([startsAt, lower, upper]) => {
    const place = { x: 23.1 - thisHour + new Date(startsAt) / 3_600_000, width: 0.8 };
    return [
      el('rect.ok', { ...place, y: most - lower, height: lower }),
      el('rect.rejected', { ...place, y: most - lower - upper, height: upper }),
    ];
  });
  const sums = kinds.map((kind, at) => `${number(sumOf(hours, at + 1))} ${kind}`);
  const picture = {
    // One unit is an hour in width and a request in height.
    viewBox: `0 0 24 ${most}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${caption}: ${sums}`,
  };
  const mark = (kind) => el(`span.${kind}`, '\u25A0\u2002');
  const rows = hours.toReversed().map(([startsAt, ...counts]) => [time(startsAt), ...counts]);
  return el(
    'section',
    h2(caption),
    el('svg.chart', picture, bars),
    el('p.legend', b(mark('ok'), kinds[0]), b(mark('rejected'), kinds[1])),
    el(
      'details',
      el('summary', 'The same as a table'),
      table(caption, ['Hour from', ...kinds], rows),
    ),
  );
}

// Requests

/** What the reader is told; any other error is a fault of this page. */
class Failure extends Error {}

function fail(text) {
  throw new Failure(text);
}

const INVALID_TOKEN = 'The token is not valid. Issue one: petstore admin issue --name NAME';
const UNKNOWN_RESULT = 'The change may have been made: refresh the view before you repeat it.';

const TIME_LIMIT_MS = 15_000;
let pending = 0;
/** Sends a request. The view is busy until the response is complete. */
async function request(...sent) {
  main.ariaBusy = ++pending > 0;
  return send(...sent).finally(() => (main.ariaBusy = --pending > 0));
}

async function send(path, method = 'GET', body, token = storage.getItem(TOKEN)) {
  const headers = { authorization: `Bearer ${token}` };
  if (body) headers['content-type'] = 'application/json';
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const sent = { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal };
  const advice = method === 'GET' ? 'Check that it is running, then try again.' : UNKNOWN_RESULT;
  const response = await fetch(path, sent).catch(() =>
    fail(`The server does not respond. ${advice}`),
  );
  aheadMs = Date.parse(response.headers.get('date')) - Date.now() || 0;
  isViewer = response.headers.get('x-admin-role') === 'viewer';
  const next = /^<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  const unreadable = `The response (HTTP ${response.status}) is incomplete, or not from this service. ${advice}`;
  const data = await response.json().catch(() => fail(unreadable));
  if (response.ok) return { data, next };
  if (response.status === 401) {
    // An earlier view may have sent the request, with another token or none.
    if (token && token === storage.getItem(TOKEN)) signOut(INVALID_TOKEN);
    fail(INVALID_TOKEN);
  }
  // Somebody else has changed the key.
  if (response.status === 409) void show();
  const id = response.headers.get('x-request-id');
  fail(response.status < 500 ? data.message : `${data.message}. Request ID for the log: ${id}`);
}

const get = async (path) => (await request(path)).data;
const keyPath = (id, action = '') => `/admin/v1/keys/${encodeURIComponent(id)}${action}`;

// Sign in and out

/** Found if the dialog must stay open: its response is due, or its key was not copied yet. */
const kept = () => find('dialog button:disabled, dialog .secret:not(.copied)');

function signOut(reason = '') {
  storage.removeItem(TOKEN);
  if (!kept()) dialog.close();
  void show();
  say(reason, 'fault');
}

function signIn() {
  const send = async (data) => {
    const token = bareKey(data.get('token'));
    const strange = /[^\x21-\x7e]/u.exec(token)?.[0];
    if (strange) fail(`No token contains "${strange}". Copy the whole token again: psa_...`);
    await request('/admin/v1/keys?limit=1', 'GET', undefined, token);
    storage.setItem(TOKEN, token);
    return show(true);
  };
  return [form({ class: 'sign-in' }, send, fields('sign-in'))];
}

// Dialogs

/**
 * Asks in a dialog. `run` gets the data of the form, now and as it was opened. A failure is shown
 * in the dialog, which stays open.
 */
function ask(question, content, action, run, kind = 'main') {
  const fault = el('p.fault', { role: 'alert' });
  const send = async (data) => {
    close.disabled = true;
    try {
      await run(data, opened);
    } catch (error) {
      close.disabled = false;
      if (!dialog.open || !(error instanceof Failure)) throw error;
      const { message } = error;
      const field = asked.querySelector(`[name="${/^\w+/.exec(message)}"]`);
      const place = field?.closest('label:not(.check), fieldset').textContent.trim();
      fault.textContent = field ? `${place.split(/\n| \(/)[0]}: ${message}` : message;
      field?.focus();
    }
  };
  const close = button(action ? 'Cancel' : 'Close', () => dialog.close());
  // Enter alone must not trigger an irreversible action.
  close.autofocus = kind === 'danger';
  const asked = form(
    {},
    send,
    h2({ id: 'dialog-title' }, question),
    content,
    fault,
    row(action && el(`button.${kind}`, action), close),
  );
  const opened = new FormData(asked);
  dialog.replaceChildren(asked);
  if (!dialog.open) dialog.showModal();
}

/** Runs a change, and shows what has become of it. */
async function change(done, path, method = 'POST', body = {}) {
  const { data } = await request(path, method, body);
  // Another dialog may have been opened since a button was pressed.
  if (find('dialog button:disabled')) dialog.close();
  void show();
  say(done);
  return data;
}

function showSecret({ key, name, id }, note = '') {
  const copied = el('span', { role: 'status' });
  const shown = el('code.secret', key);
  const copy = async () => {
    copied.textContent = await navigator.clipboard
      .writeText(key)
      .then(() => 'Copied.')
      .catch(() => 'Select the key and copy it.');
    shown.classList.toggle('copied', copied.textContent === 'Copied.');
  };
  ask('Store the new key now', [
    p(`The key of ${name} is shown once. ${note}`),
    shown,
    // Browsers have no clipboard for a page that is neither local nor sent over HTTPS.
    navigator.clipboard && p(button('Copy', copy, 'main'), ' ', copied),
    el('a', { href: `#key/${id}`, click: () => dialog.close() }, 'Show this key'),
  ]);
}

/** The fields of a key, for a new one or with the values of one. */
function keyFields(key = {}) {
  const { expiresAt, allowedFrom } = key;
  // A local time of Swedish is the value of such a field: 2030-12-05 17:30.
  const minute = expiresAt && new Date(expiresAt).toLocaleString('sv').slice(0, 16);
  const content = fields('key', {
    ...key,
    expiresAt: minute,
    allowedFrom: allowedFrom?.join('\n'),
  });
  content.querySelector('.zone').append(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [plan, limits] = ['select', '.row'].map((each) => content.querySelector(each));
  const adapt = () => (limits.hidden = limits.disabled = plan.value !== 'enterprise');
  plan.addEventListener('change', adapt);
  adapt();
  return content;
}

/** The terms in a form. Those in one object belong together. */
function termsOf(data) {
  const { name, plan, perMinute, perDay, allowedFrom, expiresAt } = Object.fromEntries(data);
  return [
    { name },
    { plan, perMinute: Number(perMinute) || undefined, perDay: Number(perDay) || undefined },
    { scopes: data.getAll('scopes') },
    { allowedFrom: allowedFrom.match(/[^\s,]+/g) ?? [] },
    { expiresAt: expiresAt ? new Date(expiresAt).toISOString() : null },
  ];
}

/** What differs from the form as it was opened: somebody else may have changed the rest. */
function changesOf(data, opened) {
  const before = termsOf(opened);
  const isChanged = (terms, index) => JSON.stringify(terms) !== JSON.stringify(before[index]);
  return Object.assign({}, ...termsOf(data).filter(isChanged));
}

function issue() {
  ask('Issue a key', keyFields(), 'Issue', async (data) => {
    const terms = Object.assign({}, ...termsOf(data));
    showSecret(await change('', '/admin/v1/keys', 'POST', terms));
  });
}

// Words

function stateOf({ revokedAt, expiresAt, disabledAt, bannedUntil }) {
  if (revokedAt) return 'revoked';
  if (expiresAt && new Date(expiresAt) <= now()) return 'expired';
  if (disabledAt) return 'disabled';
  return bannedUntil ? 'banned' : 'active';
}

function until(value) {
  const seconds = (new Date(value) - now()) / 1000;
  if (seconds < 120) return `${Math.max(1, Math.ceil(seconds))} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`;
}

function limitInWords(name, { limit, remaining, resetAt }) {
  const all = number(limit);
  const use =
    remaining === 0
      ? `${all} of ${all} used, resets in ${until(resetAt)}`
      : `it was used up then; ${number(remaining)} of ${all} are left now`;
  return `limited per ${name}: ${use}; a larger plan helps, or fewer requests`;
}

const ENDED = {
  revoked: 'The key is revoked. This is final: issue another key.',
  expired: 'The key has expired. Change its expiry, or issue another key.',
  disabled: 'The key is disabled. Enable it when the reason is gone.',
};
const REASONS = {
  insufficient_scope: 'The key lacked the scope of this operation. Add it with Change if intended.',
  https_required: 'The key was sent without TLS. Rotate it; the caller must use the https address.',
  not_found: 'The path is wrong. The caller should compare it with /docs.',
  pet_not_found: 'There is no such pet. The caller should list the pets first.',
  method_not_allowed: 'The path does not support the method. The caller should check /docs.',
  unsupported_media_type: 'The caller must send JSON as application/json in UTF-8.',
  operation_removed: 'The operation was removed. The caller must use its successor.',
  service_unavailable: 'The service was overloaded or had no database. Retry after Retry-After.',
  internal_error: 'The service failed. Search the log for the request ID of the caller.',
};

function endInWords(key) {
  const state = stateOf(key);
  if (!/revoked|expired/.test(state) || !key.replacedBy) return ENDED[state];
  return `The key is ${state} and was replaced. The caller must use ${key.replacedBy}.`;
}

function banInWords(end) {
  const state = end ? `ends in ${until(end)}; Unban ends it now` : 'is over';
  const cause = 'It kept sending requests after 429 responses.';
  return `${cause} The ban ${state}. The caller must wait for Retry-After.`;
}

/** Why requests were rejected, and what helps. */
function reasonOf({ code: name, window, address }, key, { limits }) {
  if (name === 'rate_limit_exceeded') {
    return window
      ? limitInWords(window, limits[window])
      : 'A limit of this operation alone was used up. The caller must wait for Retry-After.';
  }
  if (name === 'key_banned') return banInWords(key.bannedUntil);
  if (name === 'address_not_allowed') {
    return (
      `${address} tried, which was not among the addresses of the key. Add it with Change if it ` +
      "is the caller's. Otherwise the key may have leaked."
    );
  }
  if (name === 'invalid_api_key') {
    return endInWords(key) ?? 'The key is valid now. It was not valid at the time.';
  }
  return (
    REASONS[name] ??
    'The request is wrong: the caller must correct the faults that its response names.'
  );
}

function verdict(key, { limits }) {
  const full = Object.entries(limits).filter(([, { remaining }]) => remaining === 0);
  const reasons = [
    endInWords(key),
    key.bannedUntil && banInWords(key.bannedUntil),
    ...full.map(([name, window]) => limitInWords(name, window)),
  ].filter(Boolean);
  if (reasons.length) {
    return el(
      'div.card warn',
      p(b('Requests with this key are rejected.')),
      el(
        'ul',
        reasons.map((text) => el('li', text)),
      ),
    );
  }
  const [minute, day] = ['minute', 'day'].map((name) => number(limits[name].remaining));
  const left = `${minute} requests left this minute, ${day} today.`;
  const from = key.allowedFrom.length ? ` from ${key.allowedFrom.join(', ')}` : '';
  return el('div.card', p(b(`Requests with this key are accepted${from}. `), left));
}

// Views

const stateText = (key) => el(`span.state ${stateOf(key)}`, stateOf(key));

/** Adds the next page to the rows of a table, on demand. */
function more(next, rows, box) {
  if (!next) return '';
  const load = button('Show more', async () => {
    const page = await request(next);
    const added = rows(page.data).querySelectorAll('tbody tr');
    box.querySelector('tbody').append(...added);
    load.replaceWith(more(page.next, rows, box));
    added[0]?.querySelector('a')?.focus();
  });
  return load;
}

function keyRows(keys) {
  const rows = keys.map((key) => [
    link(`#key/${key.id}`, key.name),
    stateText(key),
    key.plan,
    code(`...${key.last4}`),
    time(key.lastUsedAt),
    time(key.expiresAt),
  ]);
  return table(
    'Keys',
    ['Name', 'State', 'Plan', 'Key', 'Last used', 'Expires'],
    rows,
    'No keys found. Change the filter, or issue a key.',
  );
}

/** The hours of all plans together. */
function togetherByHour(counts) {
  const hours = [...new Set(counts.map(({ startsAt }) => startsAt))];
  return hours.map((startsAt) => {
    const ofPlans = counts.filter((count) => count.startsAt === startsAt);
    return [startsAt, sumOf(ofPlans, 'admitted'), sumOf(ofPlans, 'rejected')];
  });
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Whether the last six characters are the checksum of the others: their CRC-32 in base62. */
function isWhole(key) {
  let crc = -1;
  for (const byte of new TextEncoder().encode(key.slice(0, -6))) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (-(crc & 1) & 0xedb88320);
  }
  const stated = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0);
  return key.length === 53 && stated === ~crc >>> 0;
}

/** What the search for a pasted key says if it finds none. */
const PASTED = {
  whole: 'The key is complete and its checksum is right, but this service did not issue it.',
  mistyped: 'The key is mistyped or incomplete: its checksum is wrong. Copy the whole key again.',
  token: 'This is an admin token, not a key. To end it: petstore admin revoke ID',
};

/**
 * A key in the search is looked up by its digest, or by its last four characters where the browser
 * computes none (not on https: or localhost). It leaves this page neither in a URL nor in a body.
 * It drops the other filters, which could hide its key.
 */
async function withoutKey({ search = '', ...filter }) {
  const [found] = /ps[ka]_\w+|[0-9A-Za-z]{40,}/.exec(bareKey(search)) ?? [];
  if (!found) return { search, ...filter };
  const key = found.includes('_') ? found : `psk_${found}`;
  const ofKey = isWhole(key) ? 'whole' : 'mistyped';
  const pasted = key.startsWith('psa') ? 'token' : ofKey;
  if (!crypto.subtle) return { search: key.slice(-4), pasted };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key));
  const bytes = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return { digest: bytes.join(''), pasted };
}

/** A form whose data become the query of its view. */
function filterForm(view, values) {
  const send = async (data) => {
    const wanted = Object.entries(await withoutKey(Object.fromEntries(data)));
    location.hash = `${view}?${new URLSearchParams(wanted.filter(([, text]) => text))}`;
  };
  return form({ class: 'row', role: 'search' }, send, fields(view, values));
}

async function keysView(query) {
  const { use = '', search, pasted, ...filter } = await withoutKey(query);
  if (search) filter.search = search;
  const wanted = [new URLSearchParams({ order: 'newest', ...filter }), use].join('&');
  const [page, usage] = await Promise.all([
    request(`/admin/v1/keys?${wanted}`),
    get('/admin/v1/usage'),
  ]);
  const hours = togetherByHour(usage.hours);
  const tile = (count, text, href) => el(href ? 'a' : 'div', { href }, b(number(count)), text);
  const box = keyRows(page.data);
  const isFound = pasted === 'whole' && page.data.length;
  return [
    row(title('Keys'), changing('Issue a key', issue, 'main')),
    isViewer && p(VIEWER),
    el(
      'div.tiles',
      tile(sumOf(hours, 1), 'admitted in 24 hours'),
      tile(sumOf(hours, 2), 'rejected in 24 hours'),
      tile(usage.banned, 'banned', '#keys?status=banned'),
      tile(usage.nearLimit.length, 'above 80 % of a limit', '#near'),
      tile(usage.expiring, 'expire within 14 days', '#keys?use=expiresWithinDays%3D14'),
    ),
    filterForm('keys', { ...filter, use }),
    filter.digest && p('The key with the SHA-256 digest ', code(filter.digest), ':'),
    !isFound && PASTED[pasted] && p(b(PASTED[pasted])),
    box,
    more(page.next, keyRows, box),
    chart('Requests of all keys by hour', ['admitted', 'rejected'], hours),
  ];
}

async function nearView() {
  const { nearLimit } = await get('/admin/v1/usage?hours=1');
  const rows = nearLimit.map(({ keyId, name, plan, window, used, limit }) => {
    const share = Math.floor((100 * used) / limit);
    return [link(`#key/${keyId}`, name), plan, `per ${window}`, share, used, limit];
  });
  return [
    p(link('#keys', 'All keys')),
    row(
      title('Keys near a limit'),
      button('Refresh', () => show()),
    ),
    p('Clients that have used more than 80 % of a limit, the fullest first, at most 50.'),
    table(
      'Keys near a limit',
      ['Name', 'Plan', 'Limit', 'Used in %', 'Requests', 'Of'],
      rows,
      'No client is near a limit.',
    ),
  ];
}

/** Which key it is: its predecessors and successors have the same name. */
const identity = ({ id, last4, createdAt }) =>
  p('Key ', code(`psk_...${last4}`), `, ${id}, issued `, time(createdAt));

function revoke(key) {
  ask(
    `Revoke the key of ${key.name}?`,
    [identity(key), p('Its requests are rejected within a second. This cannot be undone.')],
    'Revoke',
    () => change('The key is revoked.', keyPath(key.id, '/revoke')),
    'danger',
  );
}

function rotate(key) {
  ask(
    `Rotate the key of ${key.name}?`,
    [identity(key), fields('rotate')],
    'Rotate',
    async (data) => {
      const body = { graceSeconds: data.get('hours') * 3_600 };
      const rotated = await change('', keyPath(key.id, '/rotate'), 'POST', body);
      const end = body.graceSeconds ? 'stays valid for the grace period' : 'has ended';
      showSecret(rotated, `The old key ${end}.`);
    },
  );
}

function edit(key) {
  ask(`Change the key of ${key.name}`, [identity(key), keyFields(key)], 'Save', (data, opened) =>
    change('The change is saved.', keyPath(key.id), 'PATCH', changesOf(data, opened)),
  );
}

function actionsOf(key) {
  const disabled = !key.disabledAt;
  const done = disabled ? 'The key is disabled.' : 'The key is enabled.';
  return row(
    isViewer && p(VIEWER),
    changing('Change', () => edit(key), 'main'),
    key.bannedUntil &&
      changing('Unban', () => change('The ban is over.', keyPath(key.id, '/unban'))),
    !key.revokedAt && [
      changing('Rotate', () => rotate(key)),
      changing(disabled ? 'Disable' : 'Enable', () =>
        change(done, keyPath(key.id), 'PATCH', { disabled }),
      ),
      changing('Revoke', () => revoke(key), 'danger'),
    ],
    button('Refresh', () => show()),
  );
}

function left(name, { limit, remaining, resetAt }) {
  const text = `${number(remaining)} of ${number(limit)} left ${name}, resets in ${until(resetAt)}`;
  return el(
    'div',
    text,
    el('meter', { min: '0', max: limit, value: remaining, 'aria-label': text }),
  );
}

async function keyView(_query, id) {
  const [key, usage] = await Promise.all([get(keyPath(id)), get(keyPath(id, '/usage'))]);
  const outcomes = {};
  const hours = usage.hours.map(({ startsAt, codes }) => {
    for (const [name, count] of Object.entries(codes)) {
      outcomes[name] = (outcomes[name] ?? 0) + count;
    }
    const { ok = 0, ...others } = codes;
    return [startsAt, ok, sumOf(Object.entries(others), 1)];
  });
  // A rotation deletes an unused successor.
  const keys = await get(`/admin/v1/keys?order=newest&limit=100&search=${key.clientId}`);
  const latest = usage.rejected.map((group) => {
    const { at, count, operation, address, keyId } = group;
    const used = [key, ...keys].find((each) => each.id === keyId);
    const reason = [
      keyId !== id && [
        'The latest request used another key of this client, ',
        link(`#key/${keyId}`, keyId),
        '. ',
      ],
      used ? reasonOf(group, used, usage) : 'A rotation has withdrawn it.',
    ];
    return [reason, count, time(at), code(group.code), operation, address];
  });
  const terms = [
    ['ID', code(id)],
    ['Key', code(`psk_...${key.last4}`)],
    ['Plan', `${key.plan}: ${number(key.perMinute)} a minute, ${number(key.perDay)} a day`],
    ['Scopes', key.scopes.join(', ')],
    ['Addresses', key.allowedFrom.join(', ') || 'any'],
    ['Issued', time(key.createdAt)],
    ['Expires', time(key.expiresAt)],
    [
      'Last used',
      el('span', time(key.lastUsedAt), key.lastUsedFrom && ` from ${key.lastUsedFrom}`),
    ],
    ['Replaced by', key.replacedBy ? link(`#key/${key.replacedBy}`, key.replacedBy) : 'no key'],
  ];
  const section = (caption, ...rest) => [h2(caption), table(caption, ...rest)];
  const byCount = Object.entries(outcomes).sort(([, one], [, other]) => other - one);
  return [
    p(link('#keys', 'All keys')),
    row(title(key.name), stateText(key)),
    verdict(key, usage),
    actionsOf(key),
    ...section(
      'Latest rejected requests',
      ['Reason and next step', 'Requests', 'Time', 'Code', 'Operation', 'Address'],
      latest,
      'No request was rejected. Figures may be up to 10 seconds old.',
    ),
    h2('What is left'),
    el('div.tiles', left('this minute', usage.limits.minute), left('today', usage.limits.day)),
    chart('Requests by hour', ['ok', 'other outcomes'], hours),
    ...section('Outcomes of the last 24 hours', ['Outcome', 'Requests'], byCount, 'No requests.'),
    ...section('Permissions', ['Term', 'Value'], terms),
    p(link(`#audit?key=${id}`, 'Changes of this key')),
  ];
}

function valueInWords(name, value) {
  if (typeof value === 'number') return number(value);
  if (value && /(At|Until)$/.test(name)) return time(value);
  // Of all lists, only that of addresses may be empty.
  return [value ?? 'none'].flat().join(' ') || 'any';
}

function changeInWords({ before, after }) {
  return Object.entries(after ?? {}).map(([name, value], index) => [
    `${index ? ', ' : ''}${name}: `,
    before && name in before && [valueInWords(name, before[name]), ' → '],
    valueInWords(name, value),
  ]);
}

function auditRows(records) {
  const rows = records.map((record) => {
    const { at, action, actor, target, address } = record;
    const by = actor.type === 'key' ? `key ${actor.name}` : actor.name;
    const of = target.startsWith('key_') ? link(`#key/${target}`, target) : target;
    return [time(at), code(action), by, of, changeInWords(record), address ?? ''];
  });
  return table(
    'Audit trail',
    ['Time', 'Action', 'By', 'Target', 'Change', 'Address'],
    rows,
    'No changes found. Each change of a key and each ban appears here.',
  );
}

/**
 * Saves the rows of a table as CSV, with times in UTC. An apostrophe keeps a spreadsheet from
 * running a text as a formula.
 */
function download(box) {
  const field = (cell) => {
    const copy = cell.cloneNode(true);
    for (const each of copy.querySelectorAll('time')) each.textContent = each.dateTime;
    const harmless = copy.textContent.replace(/^[\s=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/, "'$&");
    return `"${harmless.replaceAll('"', '""')}"`;
  };
  const lines = Array.from(box.querySelectorAll('tr'), ({ cells }) =>
    Array.from(cells, field).join(),
  );
  const file = new Blob(['\uFEFF', lines.join('\r\n')], { type: 'text/csv' });
  el('a', { href: URL.createObjectURL(file), download: 'audit.csv' }).click();
}

async function auditView(query) {
  const page = await request(`/admin/v1/audit?${new URLSearchParams(query)}`);
  const box = auditRows(page.data);
  return [
    row(title('Audit trail'), page.data.length && button('Download CSV', () => download(box))),
    filterForm('audit', query),
    query.key &&
      p(
        `Changes of ${query.key} and of the keys that it succeeded. `,
        link('#audit', 'Show all changes'),
      ),
    box,
    more(page.next, auditRows, box),
  ];
}

const VIEWS = { __proto__: null, keys: keysView, key: keyView, near: nearView, audit: auditView };

let shown = 0;
/** Shows the view of the address, `#VIEW/ID?QUERY`, unless another one was asked for since. */
async function show(hasMoved) {
  const turn = ++shown;
  const [, name, id, query] = /^#?(\w*)\/?([^?]*)\??(.*)$/.exec(location.hash);
  const token = storage.getItem(TOKEN);
  find('nav').hidden = !token;
  for (const each of document.querySelectorAll('nav a')) {
    each.ariaCurrent = each.hash === `#${name || 'keys'}` ? 'page' : null;
  }
  say('');
  const view = VIEWS[name] ?? keysView;
  const filter = Object.fromEntries(new URLSearchParams(query));
  const failed = (error) => {
    if (turn !== shown) return;
    if (hasMoved) replaceView([title('This view cannot be shown')], true);
    throw error;
  };
  const content = token ? await view(filter, id).catch(failed) : signIn();
  if (turn === shown) replaceView(content, hasMoved);
}

/** Focuses the heading, or in the same view the button that had the focus. */
function replaceView(content, hasMoved) {
  const focused = document.activeElement;
  main.replaceChildren(...content.filter(Boolean));
  const heading = find('h1');
  document.title = `${heading.textContent} - Pet Store console`;
  const buttons = [...main.querySelectorAll('button')];
  const again = buttons.find(({ textContent }) => textContent === focused.textContent);
  if (hasMoved) heading.focus();
  else if (!focused.isConnected) (again ?? heading).focus();
  find('main [autofocus]')?.focus();
}

dialog.addEventListener('close', () => {
  // No secret stays in the page. The dialog may be open again by now.
  if (!dialog.open) dialog.replaceChildren();
  if (document.activeElement === document.body) find('h1')?.focus();
});
// Escape must not close it: browsers send `cancel`, but not twice in a row.
for (const kind of ['cancel', 'keydown']) {
  dialog.addEventListener(kind, (event) => {
    if ((kind === 'keydown' && event.key !== 'Escape') || !kept()) return;
    event.preventDefault();
    find('dialog .fault').textContent =
      'This dialog must stay open: wait for the response, or store the key.';
  });
}
// The browser asks before it leaves the page if this returns anything.
globalThis.onbeforeunload = kept;
find('#sign-out').addEventListener('click', () => signOut());
addEventListener('hashchange', () => {
  if (!kept()) dialog.close();
  void show(true);
});
// A click on a link to the current address causes no hashchange.
addEventListener('click', ({ target }) => {
  if (target.closest('a')?.href === location.href) void show(true);
});
// A failed request is explained to the reader. faults.js reports any other error.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof Failure)) return;
  event.preventDefault();
  say(event.reason.message, 'fault');
});
void show(true);
