/** The button that was pressed last, but in the dialog: Swagger UI has moved the focus once we hear of it. */
let opener;
let isOpen = false;

/** While the dialog is open, nothing behind it can be reached; then the focus goes back to its opener. */
export function holdFocus() {
  const dialog = document.querySelector('.modal-ux');
  if (dialog !== null) hold(dialog);
  else if (isOpen) release();
  isOpen = dialog !== null;
}

function hold(dialog) {
  dialog.setAttribute('role', 'dialog');
  dialog.setAttribute('aria-modal', 'true');
  dialog.setAttribute('aria-label', dialog.querySelector('h3').textContent);
  dialog.tabIndex = -1;
  // The backdrop, on which a click closes the dialog, stays within reach.
  for (const node of besides(dialog.closest('.dialog-ux'))) node.inert = true;
  // What had the focus may be gone, as the button that took the key away.
  if (!dialog.contains(document.activeElement)) dialog.focus();
}

function release() {
  for (const node of document.querySelectorAll('[inert]')) node.inert = false;
  const isThere = opener?.isConnected === true;
  (isThere ? opener : document.querySelector('.auth-wrapper .authorize'))?.focus();
}

function* besides(node) {
  for (; node !== document.body; node = node.parentElement) {
    for (const other of node.parentElement.children) if (other !== node) yield other;
  }
}

// Caught before the page hears of it and opens or closes the dialog.
document.addEventListener(
  'click',
  ({ target }) => {
    if (!isOpen) opener = target.closest('button') ?? opener;
  },
  true,
);
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') document.querySelector('.close-modal')?.click();
});
