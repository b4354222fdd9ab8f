const MOST = 12;
const form = document.querySelector('.search');
const input = form.querySelector('input');
const results = form.querySelector('.results');
const list = results.querySelector('ul');
const status = results.querySelector('[role=status]');
const loaded = async (path, as) => {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response[as]();
};

/** The error codes of an operation are the names of its examples. */
function wordsOf({ operationId, summary, description, parameters = [], responses }) {
  const codes = Object.values(responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  );
  const given = parameters.flatMap((each) => [each.name, each.description]);
  return [operationId, summary, description, ...given, ...codes].join(' ');
}

function operationsOf(spec) {
  return Object.entries(spec.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      kind: 'Operation',
      about: operation.summary ?? '',
      text: wordsOf(operation),
      href: `/docs#/${operation.tags?.[0] ?? 'default'}/${operation.operationId}`,
    })),
  );
}

/** The sections of a guide: a heading, and the text until the next one. */
function sectionsOf(html, href) {
  const guide = new DOMParser().parseFromString(html, 'text/html').querySelector('.guide');
  const title = guide.querySelector('h1').firstChild.textContent.trim();
  const sections = [];
  for (const node of guide.children) {
    if (/^H[1-6]$/.test(node.tagName)) {
      const heading = node.textContent.replace(/\s*#$/, '');
      const kind = /^[a-z]+(_[a-z]+)+$/.test(heading) ? 'Error code' : title;
      sections.push({ title: heading, kind, text: '', href: `${href}#${node.id}` });
    } else if (sections.length > 0 && node.tagName !== 'NAV') {
      sections.at(-1).text += ` ${node.textContent}`;
    }
  }
  return sections;
}

async function loadEntries() {
  const guides = Array.from(
    document.querySelectorAll('.masthead a[href^="/docs/guides/"]'),
    (link) => link.getAttribute('href'),
  );
  const [spec, ...pages] = await Promise.all([
    loaded('/openapi.json', 'json'),
    ...guides.map((href) => loaded(href, 'text')),
  ]);
  const sections = pages.flatMap((html, index) => sectionsOf(html, guides[index]));
  return [...operationsOf(spec), ...sections];
}

/** Lower is better; undefined if a word is missing. */
function rankOf({ title, about = '', kind, text }, words) {
  const [name, all] = [title.toLowerCase(), `${title} ${kind} ${text}`.toLowerCase()];
  const shown = `${name} ${about.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return undefined;
  if (name === words.join(' ')) return 0;
  if (words.every((word) => shown.includes(word))) return kind === 'Operation' ? 1 : 2;
  return kind === 'Operation' ? 3 : 4;
}

/** The text around the first word. */
function excerptOf({ about, text }, [word]) {
  if (about !== undefined) return about;
  const flat = text.replace(/\s+/g, ' ').trim();
  const start = Math.max(0, flat.toLowerCase().indexOf(word) - 40);
  const end = start + 110;
  const before = start > 0 ? '\u2026' : '';
  const after = end < flat.length ? '\u2026' : '';
  return `${before}${flat.slice(start, end)}${after}`;
}

function element(name, ...children) {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}

function itemOf(entry, words) {
  const link = element(
    'a',
    element('b', entry.title),
    ' ',
    element('span', entry.kind),
    element('small', excerptOf(entry, words)),
  );
  link.href = entry.href;
  return element('li', link);
}

let entries;
async function search() {
  const typed = input.value;
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  if (results.hidden) return;
  entries ??= loadEntries();
  let all;
  try {
    all = await entries;
  } catch {
    // The next input tries again.
    entries = undefined;
    list.replaceChildren();
    status.textContent = 'The search cannot be loaded';
    return;
  }
  // The reader continued typing while the entries were loaded.
  if (input.value !== typed) return;
  const found = all
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((one, two) => one.rank - two.rank);
  list.replaceChildren(...found.slice(0, MOST).map(({ entry }) => itemOf(entry, words)));
  status.textContent = found.length === 1 ? '1 result' : `${found.length || 'No'} results`;
}

const close = () => {
  results.hidden = true;
};

/** Moves the focus over the input and the results. */
function move(step) {
  const stops = [input, ...list.querySelectorAll('a')];
  stops[stops.indexOf(document.activeElement) + step]?.focus();
}

input.addEventListener('input', search);
input.addEventListener('focus', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
form.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') {
    input.focus();
    close();
  } else if (step && !results.hidden) {
    event.preventDefault();
    move(step);
  }
});
list.addEventListener('click', close);
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget && !form.contains(relatedTarget)) close();
});
document.addEventListener('click', ({ target }) => {
  if (!form.contains(target)) close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
