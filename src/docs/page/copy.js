/**
 * Copies a text. The clipboard API exists only on `https:` and on localhost, and may reject.
 * @returns what to tell the reader
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    const focused = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    focused.focus();
    return isCopied ? 'Copied' : 'Select the text and copy it';
  }
}

/** A component: a button that copies a text, and says whether it did. */
export function copyButton({ createElement: h, useState }) {
  return function CopyButton({ label, text }) {
    const [told, tell] = useState('');
    const onClick = async () => {
      tell(await copy(text()));
      setTimeout(tell, 2_000, '');
    };
    const button = h('button', { type: 'button', className: 'btn copy', onClick }, label);
    const note = h('span', { role: 'status' }, told);
    return h('span', { className: 'copying' }, note, ' ', button);
  };
}
