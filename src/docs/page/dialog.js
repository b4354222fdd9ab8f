/** The last button that was pressed outside the dialog. */
let opener;
let isOpen = false;

/**
 * While the dialog of Swagger UI is open, the page behind it is inert. Then the focus returns to
 * its opener.
 */
export function holdFocus() {
  const dialog = document.querySelector('.modal-ux');
  if (dialog !== null) hold(dialog);
  else if (isOpen) release();
  isOpen = dialog !== null;
}

function hold(dialog) {
  const attributes = { role: 'dialog', 'aria-modal': 'true', tabindex: '-1' };
  for (const [name, value] of Object.entries(attributes)) dialog.setAttribute(name, value);
  dialog.setAttribute('aria-label', dialog.querySelector('h3').textContent);
  for (let node = dialog.closest('.dialog-ux'); node !== document.body; node = node.parentElement) {
    for (const other of node.parentElement.children) if (other !== node) other.inert = true;
  }
  if (!dialog.contains(document.activeElement)) dialog.focus();
}

function release() {
  for (const node of document.querySelectorAll('[inert]')) node.inert = false;
  (opener?.isConnected ? opener : document.querySelector('.auth-wrapper .authorize'))?.focus();
}

// Captured before Swagger UI handles the click and opens or closes the dialog.
const rememberOpener = ({ target }) => {
  if (!isOpen) opener = target.closest('button') ?? opener;
};
document.addEventListener('click', rememberOpener, true);
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') document.querySelector('.close-modal')?.click();
});
