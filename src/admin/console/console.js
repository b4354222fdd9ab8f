// Every stored text reaches the page as a text node or an attribute, never as HTML.
const TOKEN = 'petstore-admin-token';
const [main, status, dialog] = ['main', 'status', 'dialog'].map((id) =>
  document.getElementById(id),
);
const plans = document.body.dataset.plans.split(' ');
const scopes = document.body.dataset.scopes.split(' ');
const number = (value) => value.toLocaleString();
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
  if (kind) element.setAttribute('class', kind);
  const attributes = children[0]?.constructor === Object ? children.shift() : {};
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(attribute, value);
    else if (typeof value === 'boolean') element[attribute] = value;
    else if (value !== undefined) element.setAttribute(attribute, value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

const button = (text, click, kind = '') => el(`button.${kind}`, { type: 'button', click }, text);
const link = (href, text) => el('a', { href }, text);
const code = (text) => el('code', text);
const row = (...children) => el('div.row', ...children);
const input = (label, attributes) => el('label', label, el('input', attributes));
const title = (text) => el('h1', { tabindex: '-1' }, text);

/** A time in the zone of the reader, with UTC in the tooltip. */
function time(value) {
  if (value === null) return 'never';
  const date = new Date(typeof value === 'number' ? value * 1000 : value);
  const text = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return el('time', { datetime: date.toISOString(), title: `${date.toISOString()} (UTC)` }, text);
}

/** A table in a box that scrolls, also by keyboard. Cells of numbers are aligned to the right. */
function table(caption, head, rows, none) {
  if (rows.length === 0) return el('p.empty', none);
  const cell = (content) => {
    if (typeof content === 'number') return el('td.number', number(content));
    return el(content.length > 40 ? 'td.words' : 'td', content);
  };
  const titles = head.map((text, index) =>
    el(typeof rows[0][index] === 'number' ? 'th.number' : 'th', { scope: 'col' }, text),
  );
  const body = rows.map((cells) => el('tr', cells.map(cell)));
  const content = el('table', el('thead', el('tr', titles)), el('tbody', body));
  return el('div.wide', { tabindex: '0', role: 'region', 'aria-label': caption }, content);
}

/** Bars by hour: served requests, and above them the rejected ones. The table has the numbers. */
function chart(caption, hours) {
  if (hours.length === 0) return el('p.empty', 'No requests in the last 24 hours.');
  const last = Math.floor(Date.now() / 3_600_000) * 3_600;
  const scale = 96 / Math.max(...hours.map(({ ok, rejected }) => ok + rejected));
  const bars = hours.flatMap(({ startsAt, ok, rejected }) => {
    const x = 231 - ((last - startsAt) / 3_600) * 10;
    const bar = (kind, above, count) => {
      const height = count * scale;
      return el(`rect.${kind}`, { x, y: 100 - above * scale - height, width: 8, height });
    };
    return [bar('ok', 0, ok), bar('rejected', ok, rejected)];
  });
  const [served, rejected] = ['ok', 'rejected'].map((name) => number(sumOf(hours, name)));
  const label = `${caption}: ${served} served, ${rejected} rejected`;
  const box = { viewBox: '0 0 240 100', preserveAspectRatio: 'none' };
  const rows = [...hours].reverse().map((hour) => [time(hour.startsAt), hour.ok, hour.rejected]);
  return el(
    'section',
    el('h2', caption),
    el('svg.chart', { ...box, role: 'img', 'aria-label': label }, bars),
    el('p.key-of-chart', el('b', 'served'), el('b.rejected', 'rejected')),
    el(
      'details',
      el('summary', 'The same as a table'),
      table(caption, ['Hour from', 'Served', 'Rejected'], rows),
    ),
  );
}

// Requests

class Failure extends Error {}

async function request(path, method = 'GET', body = undefined) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN)}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const options = { method, headers, body: body && JSON.stringify(body), cache: 'no-store' };
  const response = await fetch(path, options).catch(() => {
    throw new Failure('The server does not respond. Check that it is running, then try again.');
  });
  const next = /^<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  if (response.ok) return { data: await response.json(), next };
  const { message } = await response.json().catch(() => ({ message: response.statusText }));
  if (response.status === 401) signOut('The token is not valid. Issue one: petstore admin issue');
  const id = response.headers.get('x-request-id');
  throw new Failure(response.status < 500 ? message : `${message}. Request ID for the log: ${id}`);
}

const get = async (path) => (await request(path)).data;
const keyPath = (id, action = '') => `/admin/v1/keys/${encodeURIComponent(id)}${action}`;

// Sign in and out

function signOut(reason = '') {
  sessionStorage.removeItem(TOKEN);
  dialog.close();
  void show();
  status.textContent = reason;
}

function signIn() {
  const submit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(TOKEN, new FormData(event.target).get('token').trim());
    void show();
  };
  const token = { type: 'password', name: 'token', required: true, autocomplete: 'off' };
  const form = el(
    'form.sign-in',
    { submit },
    title('Sign in'),
    input('Admin token', token),
    el('button.main', 'Sign in'),
    el('p', 'Issue a token on the server: ', code('petstore admin issue --name NAME')),
    el('p', 'This tab keeps the token until you sign out or close it.'),
  );
  return [form];
}

// Dialogs

/** Asks in a dialog. `run` gets the form; a failure is shown in the dialog, which stays open. */
function ask(question, content, action, run, kind = 'main') {
  const fault = el('p.fault', { role: 'alert' });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await run(new FormData(event.target));
    } catch (error) {
      fault.textContent = error.message;
    }
  };
  const confirm = action && el(`button.${kind}`, action);
  const buttons = row(
    confirm,
    button(action ? 'Cancel' : 'Close', () => dialog.close()),
  );
  const heading = el('h2', { id: 'dialog-title' }, question);
  dialog.replaceChildren(el('form', { submit }, heading, content, fault, buttons));
  if (!dialog.open) dialog.showModal();
}

/** Runs a change, and shows what has become of it. */
async function change(done, path, method = 'POST', body = {}) {
  const { data } = await request(path, method, body);
  dialog.close();
  await show();
  status.textContent = done;
  return data;
}

function showSecret({ key, name, id }, further = '') {
  const copied = el('span', { role: 'status' });
  const say = (text) => () => {
    copied.textContent = text;
  };
  const copy = () =>
    navigator.clipboard.writeText(key).then(say('Copied.'), say('Select the key and copy it.'));
  ask('Store the new key now', [
    el('p', `The key of ${name} is shown once. ${further}`),
    el('code.secret', key),
    el('p', button('Copy', copy, 'main'), ' ', copied),
    el('a', { href: `#key/${id}`, click: () => dialog.close() }, 'Show this key'),
  ]);
}

/** The fields of a key, for a new one or with the values of one. */
function fields(key = { name: '', plan: 'free', scopes: ['pets:read', 'pets:write'] }) {
  const limit = (label, name) =>
    input(label, { name, type: 'number', min: '1', value: key[name] ?? '', required: true });
  const limits = row(limit('Per minute', 'perMinute'), limit('Per day', 'perDay'));
  const adapt = () => {
    limits.hidden = plan.value !== 'enterprise';
    for (const each of limits.querySelectorAll('input')) each.disabled = limits.hidden;
  };
  const options = plans.map((name) => el('option', { selected: name === key.plan }, name));
  const plan = el('select', { name: 'plan', change: adapt }, options);
  adapt();
  const boxes = scopes.map((value) => {
    const checked = key.scopes.includes(value);
    return el(
      'label.check',
      el('input', { type: 'checkbox', name: 'scopes', value, checked }),
      value,
    );
  });
  const local = key.expiresAt && new Date(key.expiresAt);
  const minutes = local && new Date(local - local.getTimezoneOffset() * 60_000).toISOString();
  const expiry = { name: 'expiresAt', type: 'datetime-local', value: minutes?.slice(0, 16) ?? '' };
  return [
    input('Name', { name: 'name', value: key.name, maxlength: '255', required: true }),
    el('label', 'Plan', plan),
    limits,
    el('fieldset', el('legend', 'Scopes'), boxes),
    input('Expires (empty: never)', expiry),
  ];
}

/** The members of a form that differ from those of a key. */
function termsOf(form, key) {
  const limit = (name) => Number(form.get(name)) || undefined;
  const [perMinute, perDay] = [limit('perMinute'), limit('perDay')];
  const plan = { plan: form.get('plan'), perMinute, perDay };
  const hasOtherLimits = perMinute && (perMinute !== key?.perMinute || perDay !== key?.perDay);
  const expiry = form.get('expiresAt');
  const expiresAt = expiry === '' ? null : new Date(expiry).toISOString();
  const minute = (iso) => iso?.slice(0, 16);
  const terms = { name: form.get('name'), scopes: form.getAll('scopes') };
  return {
    ...(terms.name !== key?.name && { name: terms.name }),
    ...(String(terms.scopes) !== String(key?.scopes) && { scopes: terms.scopes }),
    ...((plan.plan !== key?.plan || hasOtherLimits) && plan),
    ...(minute(expiresAt) !== minute(key?.expiresAt ?? null) && { expiresAt }),
  };
}

const issue = () =>
  ask('Issue a key', fields(), 'Issue', async (form) =>
    showSecret(await change('', '/admin/v1/keys', 'POST', termsOf(form))),
  );

// Words

function stateOf({ revokedAt, expiresAt, disabledAt, bannedUntil }) {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired';
  if (disabledAt !== null) return 'disabled';
  return bannedUntil === null ? 'active' : 'banned';
}

function until(unixSeconds) {
  const seconds = unixSeconds - Date.now() / 1000;
  if (seconds < 120) return `${Math.max(1, Math.ceil(seconds))} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`;
}

const HELPS = 'a larger plan helps, or fewer requests';

function windowInWords(name, { limit, remaining, resetAt }) {
  const used = `${number(limit - remaining)} of ${number(limit)} used`;
  return `limited per ${name}: ${used}, resets in ${until(resetAt)}; ${HELPS}`;
}

const ENDED = {
  revoked: 'The key is revoked. This is final: issue another key.',
  expired: 'The key has expired. Change its expiry, or issue another key.',
  disabled: 'The key is disabled. Enable it when the reason is gone.',
};
const BY_CALLER =
  'The request itself is wrong. The message of the response names each fault; the caller must correct it.';
const REASONS = {
  insufficient_scope:
    'The key lacks the scope of this operation. Add it with Change, or leave it out on purpose.',
  not_found: 'The path is wrong. The caller should compare it with /docs.',
  pet_not_found: 'There is no such pet. The caller should list the pets first.',
  method_not_allowed:
    'The path does not support this method. The caller should compare it with /docs.',
  unsupported_media_type: 'The caller must send JSON as application/json in UTF-8.',
  operation_removed: 'The operation was removed. The caller must use its successor.',
  service_unavailable:
    'The service was overloaded or had no database. The caller should retry after Retry-After.',
  internal_error:
    'The service failed, not the caller. Search the log for the request ID of the caller.',
};

function banInWords({ bannedUntil }) {
  const end =
    bannedUntil === null
      ? 'The ban is over.'
      : `The ban ends in ${until(bannedUntil)}; Unban ends it now.`;
  return `It kept sending requests after 429 responses. ${end} The caller must wait for Retry-After.`;
}

/** Why requests were rejected, and what helps. */
function reasonOf({ code: name, window: full }, key, usage) {
  if (name === 'rate_limit_exceeded') {
    const window = full ?? 'minute';
    const { limit, remaining } = usage.limits[window];
    if (remaining === 0) return windowInWords(window, usage.limits[window]);
    const left = `all ${number(limit)} were used, ${number(remaining)} are left now`;
    return `limited per ${window}: ${left}; ${HELPS}`;
  }
  if (name === 'key_banned') return banInWords(usage);
  if (name !== 'invalid_api_key') return REASONS[name] ?? BY_CALLER;
  return ENDED[stateOf(key)] ?? 'The key was not valid then. It is valid now.';
}

function verdict(key, usage) {
  const { minute, day } = usage.limits;
  const reasons = [
    ENDED[stateOf(key)],
    usage.bannedUntil === null ? undefined : banInWords(usage),
    ...Object.entries(usage.limits).map(([name, window]) =>
      window.remaining === 0 ? windowInWords(name, window) : undefined,
    ),
  ].filter(Boolean);
  if (reasons.length > 0) {
    const list = reasons.map((text) => el('li', text));
    return el('div.card warn', el('p', el('b', 'This key is rejected now.')), el('ul', list));
  }
  const left = `${number(minute.remaining)} requests left this minute, ${number(day.remaining)} this day.`;
  return el('div.card', el('p', el('b', 'This key is accepted now. '), left));
}

// Views

const stateText = (key) => el(`span.state ${stateOf(key)}`, stateOf(key));

/** Adds the next page to the rows of a table, on demand. */
function more(next, rows, box) {
  if (next === undefined) return undefined;
  const load = button('Show more', async () => {
    const page = await request(next);
    const added = rows(page.data).querySelectorAll('tbody tr');
    box.querySelector('tbody').append(...added);
    load.replaceWith(more(page.next, rows, box) ?? '');
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
  const none = 'No keys found. Change the filter, or issue a key.';
  return table('Keys', ['Name', 'State', 'Plan', 'Key', 'Last used', 'Expires'], rows, none);
}

/** The hours of all plans together. */
function togetherByHour(counts) {
  const hours = new Map();
  for (const { startsAt, admitted, rejected } of counts) {
    const { ok, rejected: before } = hours.get(startsAt) ?? { ok: 0, rejected: 0 };
    hours.set(startsAt, { startsAt, ok: ok + admitted, rejected: before + rejected });
  }
  return [...hours.values()];
}

const USES = {
  'neverUsed=true': 'never used',
  'idleDays=30': 'idle for 30 days',
  'expiresWithinDays=14': 'expires within 14 days',
};
const STATES = ['active', 'banned', 'disabled', 'expired', 'revoked'];

function filterForm(query) {
  const select = (name, label, entries) => {
    const options = entries.map(([value, text]) =>
      el('option', { value, selected: query.get(name) === value }, text),
    );
    return el('label', label, el('select', { name }, el('option', { value: '' }, 'any'), options));
  };
  const same = (texts) => texts.map((text) => [text, text]);
  const value = query.get('search') ?? '';
  const submit = (event) => {
    event.preventDefault();
    const wanted = [...new FormData(event.target)].filter(([, text]) => text !== '');
    location.hash = `keys?${new URLSearchParams(wanted)}`;
  };
  return el(
    'form.row',
    { role: 'search', submit },
    input('Name, ID or last 4 characters', {
      name: 'search',
      type: 'search',
      value,
      maxlength: '255',
    }),
    select('status', 'State', same(STATES)),
    select('plan', 'Plan', same(plans)),
    select('use', 'Use', Object.entries(USES)),
    el('button.main', 'Find'),
  );
}

async function keysView(_id, query) {
  const wanted = new URLSearchParams([...query].filter(([name]) => name !== 'use'));
  for (const [name, value] of new URLSearchParams(query.get('use') ?? '')) wanted.set(name, value);
  const [page, usage] = await Promise.all([
    request(`/admin/v1/keys?${wanted}`),
    get('/admin/v1/usage'),
  ]);
  const hours = togetherByHour(usage.hours);
  const tile = (count, text, href) =>
    el(href ? 'a' : 'div', { href }, el('b', number(count)), text);
  const box = keyRows(page.data);
  return [
    row(title('Keys'), button('Issue a key', issue, 'main')),
    el(
      'div.tiles',
      tile(sumOf(hours, 'ok'), 'served in 24 hours'),
      tile(sumOf(hours, 'rejected'), 'rejected in 24 hours'),
      tile(usage.banned, 'banned', '#keys?status=banned'),
      tile(usage.nearLimit, 'above 80 % of a limit'),
      tile(usage.expiring, 'expire within 14 days', '#keys?use=expiresWithinDays%3D14'),
    ),
    filterForm(query),
    box,
    more(page.next, keyRows, box),
    chart('Requests of all keys by hour', hours),
  ];
}

function revoke({ id, name }) {
  const warning = el('p', 'Its requests are rejected within a second. This cannot be undone.');
  const run = () => change('The key is revoked.', keyPath(id, '/revoke'));
  ask(`Revoke the key of ${name}?`, warning, 'Revoke', run, 'danger');
}

function rotate({ id, name }) {
  const hours = {
    name: 'hours',
    type: 'number',
    min: '0',
    max: '8760',
    value: '24',
    required: true,
  };
  const grace = input('Hours that the old key stays valid', hours);
  ask(`Rotate the key of ${name}?`, grace, 'Rotate', async (form) => {
    const body = { graceSeconds: form.get('hours') * 3_600 };
    const data = await change('', keyPath(id, '/rotate'), 'POST', body);
    showSecret(data, 'The old key stays valid for the grace period.');
  });
}

function edit(key) {
  ask(`Change the key of ${key.name}`, fields(key), 'Save', (form) =>
    change('The change is saved.', keyPath(key.id), 'PATCH', termsOf(form, key)),
  );
}

function actionsOf(key) {
  const disabled = key.disabledAt === null;
  const done = disabled ? 'The key is disabled.' : 'The key is enabled.';
  const toggle = () => change(done, keyPath(key.id), 'PATCH', { disabled }).catch(report);
  const unban = () => change('The ban is over.', keyPath(key.id, '/unban')).catch(report);
  return row(
    button('Change', () => edit(key), 'main'),
    button('Rotate', () => rotate(key)),
    button(disabled ? 'Disable' : 'Enable', toggle),
    key.bannedUntil === null ? undefined : button('Unban', unban),
    key.revokedAt === null ? button('Revoke', () => revoke(key), 'danger') : undefined,
    button('Refresh', () => show()),
  );
}

function left(name, { limit, remaining, resetAt }) {
  const text = `${number(remaining)} of ${number(limit)} left this ${name}, resets in ${until(resetAt)}`;
  return el(
    'div',
    el('p', text),
    el('meter', { min: '0', max: limit, value: remaining, 'aria-label': text }),
  );
}

async function keyView(id) {
  const [key, usage] = await Promise.all([get(keyPath(id)), get(keyPath(id, '/usage'))]);
  const outcomes = new Map();
  const hours = usage.hours.map(({ startsAt, codes }) => {
    for (const [name, count] of Object.entries(codes)) {
      outcomes.set(name, (outcomes.get(name) ?? 0) + count);
    }
    const { ok = 0, ...others } = codes;
    return { startsAt, ok, rejected: Object.values(others).reduce((sum, count) => sum + count, 0) };
  });
  const latest = usage.rejected.map((group) => [
    reasonOf(group, key, usage),
    group.count,
    time(group.at),
    code(group.code),
    group.operation,
    group.address,
  ]);
  const terms = [
    ['ID', code(id)],
    ['Key', code(`psk_...${key.last4}`)],
    ['Plan', `${key.plan}: ${number(key.perMinute)} a minute, ${number(key.perDay)} a day`],
    ['Scopes', key.scopes.join(', ')],
    ['Issued', time(key.createdAt)],
    ['Expires', time(key.expiresAt)],
    [
      'Last used',
      el('span', time(key.lastUsedAt), key.lastUsedFrom && ` from ${key.lastUsedFrom}`),
    ],
    ['Replaced by', key.replacedBy ? link(`#key/${key.replacedBy}`, key.replacedBy) : 'no key'],
  ];
  const section = (caption, head, rows, none) => [
    el('h2', caption),
    table(caption, head, rows, none),
  ];
  const byCount = [...outcomes].sort(([, one], [, other]) => other - one);
  const reason = ['Reason and next step', 'Requests', 'Time', 'Code', 'Operation', 'Address'];
  const none = 'No request was rejected. Numbers arrive after up to 10 seconds.';
  return [
    el('p', link('#keys', 'All keys')),
    row(title(key.name), stateText(key)),
    verdict(key, usage),
    actionsOf(key),
    ...section('Latest rejected requests', reason, latest, none),
    el('h2', 'What is left'),
    el('div.tiles', left('minute', usage.limits.minute), left('day', usage.limits.day)),
    chart('Requests by hour', hours),
    ...section('Outcomes of the last 24 hours', ['Outcome', 'Requests'], byCount, 'No requests.'),
    ...section('What it may do', ['Term', 'Value'], terms),
    el('p', link(`#audit?key=${id}`, 'Changes of this key')),
  ];
}

function valueInWords(value) {
  if (typeof value === 'number') return number(value);
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toLocaleString();
  return value === null || value === undefined ? 'none' : [value].flat().join(' ');
}

function changeInWords({ before, after }) {
  const changes = Object.entries(after ?? {}).map(([name, value]) => {
    const old = before && name in before ? `${valueInWords(before[name])} → ` : '';
    return `${name}: ${old}${valueInWords(value)}`;
  });
  return changes.join(', ');
}

function auditRows(records) {
  const rows = records.map((record) => {
    const { at, action, actor, target, address } = record;
    const by = actor.type === 'key' ? `key ${actor.name}` : actor.name;
    const of = target.startsWith('key_') ? link(`#key/${target}`, target) : target;
    return [time(at), code(action), by, of, changeInWords(record), address ?? ''];
  });
  const none = 'No changes yet. Each change of a key and each ban appears here.';
  return table('Audit trail', ['Time', 'Action', 'By', 'Target', 'Change', 'Address'], rows, none);
}

async function auditView(_id, query) {
  const key = query.get('key');
  const page = await request(`/admin/v1/audit?${key ? new URLSearchParams({ key }) : ''}`);
  const box = auditRows(page.data);
  const all = key && el('p', `Changes of ${key}. `, link('#audit', 'Show all changes'));
  return [title('Audit trail'), all, box, more(page.next, auditRows, box)];
}

const VIEWS = new Map(Object.entries({ keys: keysView, key: keyView, audit: auditView }));

function report(error) {
  if (!(error instanceof Failure)) throw error;
  if (sessionStorage.getItem(TOKEN) !== null) status.textContent = error.message;
}

let shown = 0;
/** Shows the view of the address, `#VIEW/ID?QUERY`, unless another one was asked for since. */
async function show(hasMoved = false) {
  const turn = ++shown;
  const [, name, id, query] = /^#?(\w*)\/?([^?]*)\??(.*)$/.exec(location.hash) ?? [];
  const isSignedIn = sessionStorage.getItem(TOKEN) !== null;
  document.querySelector('nav').hidden = !isSignedIn;
  status.textContent = '';
  try {
    const view = VIEWS.get(name) ?? keysView;
    const content = isSignedIn ? await view(id, new URLSearchParams(query)) : signIn();
    if (turn !== shown) return;
    main.replaceChildren(...content.filter(Boolean));
  } catch (error) {
    if (turn === shown) report(error);
    return;
  }
  const heading = main.querySelector('h1');
  document.title = `${heading.textContent} - Pet Store console`;
  for (const each of document.querySelectorAll('nav a')) {
    const isCurrent = each.getAttribute('href') === `#${name || 'keys'}`;
    each.toggleAttribute('aria-current', isCurrent);
    if (isCurrent) each.setAttribute('aria-current', 'page');
  }
  if (hasMoved) heading.focus();
}

// No secret stays in the page.
dialog.addEventListener('close', () => dialog.replaceChildren());
document.getElementById('sign-out').addEventListener('click', () => signOut());
addEventListener('hashchange', () => void show(true));
void show();
