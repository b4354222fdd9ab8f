import { copyButton } from './copy.js';
import { LANGUAGES, requestOf } from './samples.js';

/** The operation that a new reader tries first: it changes nothing, and is there to stay. */
const firstOperation = (paths) =>
  Object.entries(paths).find(([path, { get }]) => get && !get.deprecated && !path.includes('{')) ??
  [];

/** Rows `| Free | 60 | 1,000 |` of the description. */
function plansOf(description) {
  const rows = description.matchAll(/^\| ([\w-]+) \| ([\d,]+|custom) \| ([\d,]+|custom) \|$/gm);
  return Array.from(rows, ([, ...row]) => row);
}

/**
 * Plugin of Swagger UI: a layout that starts with what a reader needs for a first request, and
 * folds the description below the operations.
 */
export function Start(system) {
  const { createElement: h } = system.React;
  const CopyButton = copyButton(system.React);

  function Plans({ description }) {
    const plans = plansOf(description).map(([name, minute, day]) =>
      h(
        'div',
        { key: name },
        h('dt', null, name),
        minute === 'custom'
          ? h('dd', null, 'custom limits')
          : h('dd', null, h('b', null, minute), ' a minute, ', h('b', null, day), ' a day'),
      ),
    );
    // The admin API has no plans.
    if (plans.length === 0) return null;
    return h('dl', { className: 'plans', 'aria-label': 'Requests of each plan' }, ...plans);
  }

  function FirstRequest({ spec, server }) {
    const [path, item] = firstOperation(spec.paths);
    if (path === undefined) return null;
    const request = requestOf(item.get, path, 'get', item.get.servers?.[0].url ?? server);
    const command = LANGUAGES.curl(request).replace(/ \\\n */g, ' ');
    return h(
      'div',
      { className: 'first-request' },
      h('pre', { tabIndex: 0, 'aria-label': 'A first request' }, command),
      h(CopyButton, { label: 'Copy', text: () => command }),
    );
  }

  function About({ description, Markdown }) {
    if (description === '') return null;
    const headings = Array.from(description.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
    return h(
      'details',
      { className: 'about' },
      h('summary', null, headings.join(' \u00b7 ')),
      h(Markdown, { source: description }),
    );
  }

  function StartLayout({ getComponent }) {
    const { specSelectors, oas3Selectors } = system.getSystem();
    const part = (name) => h(getComponent(name, true));
    const spec = specSelectors.specJson().toJS();
    const { title, version, description = '' } = spec.info;
    const [summary] = description.split('\n\n');
    const server = oas3Selectors.selectedServer() || spec.servers[0].url;
    return h(
      'main',
      { className: 'swagger-ui' },
      part('SvgAssets'),
      part('errors'),
      h(
        'section',
        { className: 'start', 'aria-label': 'Start' },
        h('h1', null, title, ' ', h('small', null, version)),
        h('p', null, summary),
        h(
          'div',
          { className: 'address' },
          h('span', null, 'Base address'),
          part('ServersContainer'),
          part('AuthorizeBtnContainer'),
        ),
        h(FirstRequest, { spec, server }),
        h(Plans, { description }),
      ),
      h('div', { className: 'wrapper' }, h('h2', null, 'Operations'), part('operations')),
      h(
        'div',
        { className: 'wrapper' },
        h(About, {
          description: description.slice(summary.length).trim(),
          Markdown: getComponent('Markdown', true),
        }),
        part('Models'),
      ),
    );
  }

  return { components: { StartLayout } };
}
