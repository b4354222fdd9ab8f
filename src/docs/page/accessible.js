import { holdFocus } from './dialog.js';

/** Names of elements to which Swagger UI gives none. */
const NAMES = {
  'select#servers': () => 'Server',
  '#swagger-ui section.models': () => 'Schemas',
  '.close-modal': () => 'Close',
  '.examples-select-element': () => 'Example',
  'textarea.body-param__text': () => 'Request body',
  '.parameters-col_description :is(select, textarea, input)': (node) =>
    node.closest('tr').dataset.paramName ?? 'Value',
  '.responses-table[role=region]': (node) =>
    `Documented responses, ${node.id.replaceAll('_', ' ')}`,
};
/** These labels differ from the visible text. */
const WRONG = '[aria-label="Apply credentials"], [aria-label="Remove authorization"]';
/** Scrollable elements must be reachable by keyboard. */
const SCROLLABLE = 'pre.microlight, .highlight-code pre, .about table';

function name() {
  for (const [selector, nameOf] of Object.entries(NAMES)) {
    for (const node of document.querySelectorAll(selector)) {
      const text = nameOf(node);
      if (node.getAttribute('aria-label') !== text) node.setAttribute('aria-label', text);
    }
  }
  for (const node of document.querySelectorAll(SCROLLABLE)) node.tabIndex = 0;
  for (const node of document.querySelectorAll(WRONG)) node.removeAttribute('aria-label');
  document.querySelector('.auth-container h6')?.setAttribute('aria-level', '5');
  document.querySelector('.models h4')?.setAttribute('aria-level', '3');
}

new MutationObserver(() => {
  name();
  holdFocus();
}).observe(document.body, { childList: true, subtree: true });
