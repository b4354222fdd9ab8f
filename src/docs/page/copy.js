/** Copies a text. The clipboard API exists only on `https:` and on localhost, and may reject. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

/** A component: a button that copies a text, and says that it did. */
export function copyButton({ createElement: h, useState }) {
  return function CopyButton({ label, text }) {
    const [isCopied, setCopied] = useState(false);
    const onClick = async () => {
      await copy(text());
      setCopied(true);
      setTimeout(() => setCopied(false), 2_000);
    };
    const button = h('button', { type: 'button', className: 'btn copy', onClick }, label);
    const note = h('span', { role: 'status' }, isCopied && 'Copied');
    return h('span', { className: 'copying' }, note, ' ', button);
  };
}
