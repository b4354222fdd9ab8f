import { holdFocus } from './dialog.js';

// What Swagger UI leaves unnamed: assistive technology would read "combo box" and "button" of them.
const NAMES = {
  'select#servers': () => 'Server',
  '.information-container': () => 'About the API',
  '.scheme-container': () => 'Server and key',
  '#swagger-ui section.models': () => 'Schemas',
  '.close-modal': () => 'Close',
  '.examples-select-element': () => 'Example',
  'textarea.body-param__text': () => 'Request body',
  '.parameters-col_description :is(select, textarea, input)': (node) =>
    node.closest('tr').dataset.paramName ?? 'Value',
  '.responses-table[role=region]': (node) =>
    `Documented responses, ${node.id.replaceAll('_', ' ')}`,
};
const CONTRADICTED = '[aria-label="Apply credentials"], [aria-label="Remove authorization"]';
/** Text that may be wider than its place has to be reached by the keyboard. */
const SCROLLS = 'pre.microlight, .highlight-code pre, .info table';

function name() {
  for (const [selector, nameOf] of Object.entries(NAMES)) {
    for (const node of document.querySelectorAll(selector)) {
      const text = nameOf(node);
      if (node.getAttribute('aria-label') !== text) node.setAttribute('aria-label', text);
    }
  }
  for (const node of document.querySelectorAll(SCROLLS)) if (node.tabIndex !== 0) node.tabIndex = 0;
  for (const node of document.querySelectorAll('.information-container, .scheme-container')) {
    node.setAttribute('role', 'region');
  }
  // These contradict the text that everybody sees.
  for (const node of document.querySelectorAll(CONTRADICTED)) node.removeAttribute('aria-label');
  // The level that follows the one above it.
  document.querySelector('.auth-container h6')?.setAttribute('aria-level', '5');
}

new MutationObserver(() => {
  name();
  holdFocus();
}).observe(document.body, { childList: true, subtree: true });
