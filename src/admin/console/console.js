// Every stored text reaches the page as a text node or an attribute, never as HTML.
const TOKEN = 'petstore-admin-token';
const [main, status, dialog] = ['main', 'status', 'dialog'].map((id) =>
  document.getElementById(id),
);
const { plans, scopes } = document.body.dataset;
const number = (value) => value.toLocaleString();

/** Creates an element. Properties in camel case are set, functions listen, others are attributes. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (typeof value === 'boolean') element[name] = value;
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

const button = (text, click, kind = '') =>
  el('button', { type: 'button', class: kind, click }, text);

/** A time in the zone of the reader, with UTC in the tooltip. */
function time(value, none = 'never') {
  if (value === null) return none;
  const date = new Date(typeof value === 'number' ? value * 1000 : value);
  const text = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return el('time', { datetime: date.toISOString(), title: `${date.toISOString()} (UTC)` }, text);
}

/** A table in a box that scrolls, also by keyboard. Cells of numbers are aligned to the right. */
function table(caption, head, rows, none) {
  if (rows.length === 0) return el('p', { class: 'empty' }, none);
  const cell = (tag, content) => {
    if (typeof content === 'number') return el(tag, { class: 'number' }, number(content));
    const isLong = typeof content === 'string' && content.length > 40;
    return el(tag, isLong ? { class: 'words' } : {}, content);
  };
  const isNumber = head.map((_, index) => typeof rows[0][index] === 'number');
  const titles = head.map((text, index) =>
    el('th', { scope: 'col', class: isNumber[index] ? 'number' : '' }, text),
  );
  const body = rows.map((row) =>
    el(
      'tr',
      {},
      row.map((content) => cell('td', content)),
    ),
  );
  return el(
    'div',
    { class: 'wide', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', {}, el('thead', {}, el('tr', {}, titles)), el('tbody', {}, body)),
  );
}

/** Bars by hour: served requests, and above them the rejected ones. The table has the numbers. */
function chart(title, hours) {
  if (hours.length === 0) return el('p', { class: 'empty' }, 'No requests in the last 24 hours.');
  const svg = (tag, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const last = Math.floor(Date.now() / 3_600_000) * 3_600;
  const highest = Math.max(...hours.map(({ ok, rejected }) => ok + rejected));
  const total = (name) => hours.reduce((sum, hour) => sum + hour[name], 0);
  const label = `${title}: ${number(total('ok'))} served, ${number(total('rejected'))} rejected`;
  const picture = svg('svg', {
    class: 'chart',
    viewBox: '0 0 240 100',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': label,
  });
  for (const { startsAt, ok, rejected } of hours) {
    const x = 230 - ((last - startsAt) / 3_600) * 10;
    const [low, high] = [(ok / highest) * 96, (rejected / highest) * 96];
    const bar = (kind, y, height) => svg('rect', { class: kind, x: x + 1, y, width: 8, height });
    picture.append(bar('ok', 100 - low, low), bar('rejected', 100 - low - high, high));
  }
  const rows = [...hours].reverse().map((hour) => [time(hour.startsAt), hour.ok, hour.rejected]);
  return el(
    'section',
    {},
    el('h2', {}, title),
    picture,
    el(
      'p',
      { class: 'key-of-chart' },
      el('b', {}, 'served '),
      el('b', { class: 'rejected' }, 'rejected'),
    ),
    el(
      'details',
      {},
      el('summary', {}, 'The same as a table'),
      table(title, ['Hour from', 'Served', 'Rejected'], rows),
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
  if (response.ok) return { data: await response.json(), next: nextOf(response) };
  const { message } = await response.json().catch(() => ({ message: response.statusText }));
  if (response.status === 401) signOut('The token is not valid. Issue one: petstore admin issue');
  const id = response.headers.get('x-request-id');
  throw new Failure(response.status < 500 ? message : `${message}. Request ID for the log: ${id}`);
}

const get = async (path) => (await request(path)).data;
const keyPath = (id, action = '') => `/admin/v1/keys/${encodeURIComponent(id)}${action}`;

function nextOf(response) {
  return /^<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
}

// Sign in and out

function signOut(reason = '') {
  sessionStorage.removeItem(TOKEN);
  dialog.close();
  void show();
  status.textContent = reason;
}

function signIn() {
  const token = el('input', {
    type: 'password',
    name: 'token',
    required: true,
    autocomplete: 'off',
  });
  const submit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(TOKEN, token.value.trim());
    void show();
  };
  return [
    el(
      'form',
      { class: 'sign-in', submit },
      el('h1', { tabindex: '-1' }, 'Sign in'),
      el('label', {}, 'Admin token', token),
      el('button', { class: 'main' }, 'Sign in'),
      el(
        'p',
        {},
        'Issue a token on the server: ',
        el('code', {}, 'petstore admin issue --name NAME'),
      ),
      el('p', {}, 'This tab keeps the token until you sign out or close it.'),
    ),
  ];
}

// Dialogs

/** Asks in a dialog. `run` gets the form; a failure is shown in the dialog, which stays open. */
function ask(title, content, action, run, kind = 'main') {
  const fault = el('p', { class: 'fault', role: 'alert' });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await run(new FormData(event.target));
    } catch (error) {
      fault.textContent = error.message;
    }
  };
  const cancel = button(action ? 'Cancel' : 'Close', () => dialog.close());
  const confirm = action ? el('button', { class: kind }, action) : undefined;
  const buttons = el('div', { class: 'row' }, confirm, cancel);
  const heading = el('h2', { id: 'dialog-title' }, title);
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
  const copy = button(
    'Copy',
    async () => {
      const isCopied = await navigator.clipboard.writeText(key).then(
        () => true,
        () => false,
      );
      copied.textContent = isCopied ? 'Copied.' : 'Select the key and copy it.';
    },
    'main',
  );
  ask(
    'Store the new key now',
    [
      el('p', {}, `The key of ${name} is shown once. ${further}`),
      el('code', { class: 'secret' }, key),
      el('p', {}, copy, ' ', copied),
      el('a', { href: `#key/${id}`, click: () => dialog.close() }, 'Show this key'),
    ],
    undefined,
  );
}

/** The fields of a key, for a new one or with the values of one. */
function fields(key = { name: '', plan: 'free', scopes: ['pets:read', 'pets:write'] }) {
  const limit = (name, label) =>
    el(
      'label',
      {},
      label,
      el('input', { name, type: 'number', min: '1', value: key[name] ?? '', required: true }),
    );
  const limits = el(
    'div',
    { class: 'row' },
    limit('perMinute', 'Per minute'),
    limit('perDay', 'Per day'),
  );
  const names = plans.split(' ');
  const options = names.map((name) => el('option', { selected: name === key.plan }, name));
  const plan = el('select', { name: 'plan' }, options);
  const adapt = () => {
    limits.hidden = plan.value !== 'enterprise';
    for (const input of limits.querySelectorAll('input')) input.disabled = limits.hidden;
  };
  plan.addEventListener('change', adapt);
  adapt();
  const boxes = scopes.split(' ').map((scope) => {
    const checked = key.scopes.includes(scope);
    const box = el('input', { type: 'checkbox', name: 'scopes', value: scope, checked });
    return el('label', { class: 'check' }, box, scope);
  });
  const local = key.expiresAt && new Date(key.expiresAt);
  const minutes = local && new Date(local - local.getTimezoneOffset() * 60_000).toISOString();
  const expiry = { name: 'expiresAt', type: 'datetime-local', value: minutes?.slice(0, 16) ?? '' };
  return [
    el(
      'label',
      {},
      'Name',
      el('input', { name: 'name', value: key.name, maxlength: '255', required: true }),
    ),
    el('label', {}, 'Plan', plan),
    limits,
    el('fieldset', {}, el('legend', {}, 'Scopes'), boxes),
    el('label', {}, 'Expires (empty: never)', el('input', expiry)),
  ];
}

/** The members of a form that differ from those of a key. */
function termsOf(form, key) {
  const [perMinute, perDay] = ['perMinute', 'perDay'].map(
    (name) => Number(form.get(name)) || undefined,
  );
  const expiry = form.get('expiresAt');
  const minute = (iso) => iso?.slice(0, 16);
  const expiresAt = expiry === '' ? null : new Date(expiry).toISOString();
  const terms = { name: form.get('name'), scopes: form.getAll('scopes') };
  const plan = { plan: form.get('plan'), perMinute, perDay };
  const hasPlan =
    !key ||
    plan.plan !== key.plan ||
    (perMinute && (perMinute !== key.perMinute || perDay !== key.perDay));
  return {
    ...(terms.name !== key?.name && { name: terms.name }),
    ...(String(terms.scopes) !== String(key?.scopes) && { scopes: terms.scopes }),
    ...(hasPlan && plan),
    ...(minute(expiresAt) !== minute(key?.expiresAt ?? null) && { expiresAt }),
  };
}

function issue() {
  ask('Issue a key', fields(), 'Issue', async (form) => {
    const data = await change('', '/admin/v1/keys', 'POST', termsOf(form));
    showSecret(data);
  });
}

// Words

function stateOf({ revokedAt, expiresAt, disabledAt, bannedUntil }) {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired';
  if (disabledAt !== null) return 'disabled';
  return bannedUntil === null ? 'active' : 'banned';
}

function inWords(seconds) {
  if (seconds < 120) return `${Math.max(1, Math.ceil(seconds))} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`;
}

const resets = (resetAt) => `resets in ${inWords(resetAt - Date.now() / 1000)}`;

function windowInWords(name, { limit, remaining, resetAt }) {
  const used = `${number(limit - remaining)} of ${number(limit)} used, ${resets(resetAt)}`;
  const advice = remaining === 0 ? '; a larger plan helps, or fewer requests' : '';
  return `limited per ${name}: ${used}${advice}`;
}

const ENDED = {
  revoked: 'The key is revoked. This is final: issue another key.',
  expired: 'The key has expired. Change its expiry, or issue another key.',
  disabled: 'The key is disabled. Enable it when the reason is gone.',
};
const BY_CALLER =
  'The request itself is wrong. The message of the response names each fault; the caller must correct it.';
const OURS = 'The service failed, not the caller. Search the log for the request ID of the caller.';
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
  internal_error: OURS,
};

/** Why requests were rejected, and what helps. */
function reasonOf({ code, window }, key, { limits, bannedUntil }) {
  const state = stateOf(key);
  if (code === 'rate_limit_exceeded') {
    const name = window ?? 'minute';
    const { limit, remaining } = limits[name];
    if (remaining === 0) return windowInWords(name, limits[name]);
    return `limited per ${name}: all ${number(limit)} were used, ${number(remaining)} are left now; a larger plan helps, or fewer requests`;
  }
  if (code === 'key_banned') {
    const until =
      bannedUntil === null
        ? 'The ban is over.'
        : `The ban ends in ${inWords(bannedUntil - Date.now() / 1000)}; Unban ends it now.`;
    return `It kept sending requests after 429 responses. ${until} The caller must wait for Retry-After.`;
  }
  if (code === 'invalid_api_key')
    return ENDED[state] ?? 'The key was not valid then. It is valid now.';
  return REASONS[code] ?? BY_CALLER;
}

function verdict(key, usage) {
  const { minute, day } = usage.limits;
  const state = stateOf(key);
  const reasons = [ENDED[state]];
  if (usage.bannedUntil !== null) reasons.push(reasonOf({ code: 'key_banned' }, key, usage));
  if (minute.remaining === 0) reasons.push(windowInWords('minute', minute));
  if (day.remaining === 0) reasons.push(windowInWords('day', day));
  const found = reasons.filter(Boolean);
  if (found.length === 0) {
    const left = `${number(minute.remaining)} requests left this minute, ${number(day.remaining)} this day.`;
    return el(
      'div',
      { class: 'card' },
      el('p', {}, el('b', {}, 'This key is accepted now. '), left),
    );
  }
  const list = found.map((text) => el('li', {}, text));
  return el(
    'div',
    { class: 'card warn' },
    el('p', {}, el('b', {}, 'This key is rejected now.')),
    el('ul', {}, list),
  );
}

// Views

const state = (key) => el('span', { class: `state ${stateOf(key)}` }, stateOf(key));
const title = (text) => el('h1', { tabindex: '-1' }, text);

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
    el('a', { href: `#key/${key.id}` }, key.name),
    state(key),
    key.plan,
    el('code', {}, `...${key.last4}`),
    time(key.lastUsedAt),
    time(key.expiresAt),
  ]);
  const none = 'No keys found. Change the filter, or issue a key.';
  return table('Keys', ['Name', 'State', 'Plan', 'Key', 'Last used', 'Expires'], rows, none);
}

/** The hours of all plans together. */
function togetherByHour(hours) {
  const sums = new Map();
  for (const { startsAt, admitted, rejected } of hours) {
    const sum = sums.get(startsAt) ?? { startsAt, ok: 0, rejected: 0 };
    sums.set(startsAt, { startsAt, ok: sum.ok + admitted, rejected: sum.rejected + rejected });
  }
  return [...sums.values()];
}

const USES = {
  'neverUsed=true': 'never used',
  'idleDays=30': 'idle for 30 days',
  'expiresWithinDays=14': 'expires within 14 days',
};

function filterForm(query) {
  const select = (name, label, entries) => {
    const options = entries.map(([value, text]) =>
      el('option', { value, selected: query.get(name) === value }, text),
    );
    return el(
      'label',
      {},
      label,
      el('select', { name }, el('option', { value: '' }, 'any'), options),
    );
  };
  const same = (text) => text.split(' ').map((each) => [each, each]);
  const search = {
    name: 'search',
    type: 'search',
    value: query.get('search') ?? '',
    maxlength: '255',
  };
  const submit = (event) => {
    event.preventDefault();
    const wanted = [...new FormData(event.target)].filter(([, value]) => value !== '');
    location.hash = `keys?${new URLSearchParams(wanted)}`;
  };
  return el(
    'form',
    { class: 'row', role: 'search', submit },
    el('label', {}, 'Name, ID or last 4 characters', el('input', search)),
    select('status', 'State', same('active banned disabled expired revoked')),
    select('plan', 'Plan', same(plans)),
    select('use', 'Use', Object.entries(USES)),
    el('button', { class: 'main' }, 'Find'),
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
  const sum = (name) => hours.reduce((total, hour) => total + hour[name], 0);
  const tile = (count, text, href) =>
    el(href ? 'a' : 'div', { href }, el('b', {}, number(count)), text);
  const box = keyRows(page.data);
  return [
    el('div', { class: 'row' }, title('Keys'), button('Issue a key', issue, 'main')),
    el(
      'div',
      { class: 'tiles' },
      tile(sum('ok'), 'served in 24 hours'),
      tile(sum('rejected'), 'rejected in 24 hours'),
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

function actionsOf(key) {
  const { id, name } = key;
  const disabled = key.disabledAt === null;
  const revoke = () =>
    ask(
      `Revoke the key of ${name}?`,
      el('p', {}, 'Its requests are rejected within a second. This cannot be undone.'),
      'Revoke',
      () => change('The key is revoked.', keyPath(id, '/revoke')),
      'danger',
    );
  const rotate = () => {
    const grace = el('input', {
      name: 'hours',
      type: 'number',
      min: '0',
      max: '8760',
      value: '24',
      required: true,
    });
    const run = async (form) => {
      const data = await change('', keyPath(id, '/rotate'), 'POST', {
        graceSeconds: form.get('hours') * 3_600,
      });
      showSecret(data, 'The old key stays valid for the grace period.');
    };
    ask(
      `Rotate the key of ${name}?`,
      el('label', {}, 'Hours that the old key stays valid', grace),
      'Rotate',
      run,
    );
  };
  const edit = () =>
    ask(`Change the key of ${name}`, fields(key), 'Save', (form) =>
      change('The change is saved.', keyPath(id), 'PATCH', termsOf(form, key)),
    );
  const toggle = () =>
    change(disabled ? 'The key is disabled.' : 'The key is enabled.', keyPath(id), 'PATCH', {
      disabled,
    }).catch(report);
  const unban = () => change('The ban is over.', keyPath(id, '/unban')).catch(report);
  return el(
    'div',
    { class: 'row' },
    button('Change', edit, 'main'),
    button('Rotate', rotate),
    button(disabled ? 'Disable' : 'Enable', toggle),
    key.bannedUntil === null ? undefined : button('Unban', unban),
    key.revokedAt === null ? button('Revoke', revoke, 'danger') : undefined,
    button('Refresh', () => show()),
  );
}

function left(name, { limit, remaining, resetAt }) {
  const text = `${number(remaining)} of ${number(limit)} left this ${name}, ${resets(resetAt)}`;
  const meter = el('meter', {
    min: '0',
    max: String(limit),
    value: String(remaining),
    'aria-label': text,
  });
  return el('div', {}, el('p', {}, text), meter);
}

async function keyView(id) {
  const [key, usage] = await Promise.all([get(keyPath(id)), get(keyPath(id, '/usage'))]);
  const { minute, day } = usage.limits;
  const outcomes = {};
  const hours = usage.hours.map(({ startsAt, codes }) => {
    for (const [code, count] of Object.entries(codes))
      outcomes[code] = (outcomes[code] ?? 0) + count;
    const { ok = 0, ...others } = codes;
    return { startsAt, ok, rejected: Object.values(others).reduce((sum, count) => sum + count, 0) };
  });
  const byCount = Object.entries(outcomes).sort(([, one], [, other]) => other - one);
  const latest = usage.rejected.map((group) => [
    reasonOf(group, key, usage),
    group.count,
    time(group.at),
    el('code', {}, group.code),
    group.operation,
    group.address,
  ]);
  const facts = [
    ['ID', el('code', {}, id)],
    ['Key', el('code', {}, `psk_...${key.last4}`)],
    ['Plan', `${key.plan}: ${number(key.perMinute)} a minute, ${number(key.perDay)} a day`],
    ['Scopes', key.scopes.join(', ')],
    ['Issued', time(key.createdAt)],
    ['Expires', time(key.expiresAt)],
    [
      'Last used',
      el('span', {}, time(key.lastUsedAt), key.lastUsedFrom ? ` from ${key.lastUsedFrom}` : ''),
    ],
    [
      'Replaced by',
      key.replacedBy ? el('a', { href: `#key/${key.replacedBy}` }, key.replacedBy) : 'no key',
    ],
  ];
  return [
    el('p', {}, el('a', { href: '#keys' }, 'All keys')),
    el('div', { class: 'row' }, title(key.name), state(key)),
    verdict(key, usage),
    actionsOf(key),
    el('h2', {}, 'Latest rejected requests'),
    table(
      'Latest rejected requests',
      ['Reason and next step', 'Requests', 'Time', 'Code', 'Operation', 'Address'],
      latest,
      'No request was rejected. Numbers arrive after up to 10 seconds.',
    ),
    el('h2', {}, 'What is left'),
    el('div', { class: 'tiles' }, left('minute', minute), left('day', day)),
    chart('Requests by hour', hours),
    el('h2', {}, 'Outcomes of the last 24 hours'),
    table(
      'Outcomes',
      ['Outcome', 'Requests'],
      byCount.map(([code, count]) => [code, count]),
      'No requests.',
    ),
    el('h2', {}, 'What it may do'),
    table('Terms', ['Term', 'Value'], facts),
    el('p', {}, el('a', { href: `#audit?key=${id}` }, 'Changes of this key')),
  ];
}

function valueInWords(value) {
  if (typeof value === 'number') return number(value);
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toLocaleString();
  return value === null || value === undefined ? 'none' : [value].flat().join(' ');
}

function changeInWords({ before, after }) {
  return Object.entries(after ?? {})
    .map(([name, value]) => {
      const old = before && name in before ? `${valueInWords(before[name])} → ` : '';
      return `${name}: ${old}${valueInWords(value)}`;
    })
    .join(', ');
}

function auditRows(records) {
  const rows = records.map((record) => [
    time(record.at),
    el('code', {}, record.action),
    record.actor.type === 'key' ? `key ${record.actor.name}` : record.actor.name,
    record.target.startsWith('key_')
      ? el('a', { href: `#key/${record.target}` }, record.target)
      : record.target,
    changeInWords(record),
    record.address ?? '',
  ]);
  const none = 'No changes yet. Each change of a key and each ban appears here.';
  return table('Audit trail', ['Time', 'Action', 'By', 'Target', 'Change', 'Address'], rows, none);
}

async function auditView(_id, query) {
  const key = query.get('key');
  const page = await request(`/admin/v1/audit?${key ? new URLSearchParams({ key }) : ''}`);
  const box = auditRows(page.data);
  const all =
    key && el('p', {}, `Changes of ${key}. `, el('a', { href: '#audit' }, 'Show all changes'));
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
  const [, name = 'keys', id = '', query = ''] =
    /^#?(\w*)\/?([^?]*)\??(.*)$/.exec(location.hash) ?? [];
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
  for (const link of document.querySelectorAll('nav a')) {
    const isCurrent = link.getAttribute('href') === `#${name || 'keys'}`;
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (hasMoved) heading.focus();
}

// No secret stays in the page.
dialog.addEventListener('close', () => dialog.replaceChildren());
document.getElementById('sign-out').addEventListener('click', () => signOut());
addEventListener('hashchange', () => void show(true));
void show();
