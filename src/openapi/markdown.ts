import { Marked } from 'marked';

/** A guide as HTML: our own text, so nothing in it has to be kept out. */
export function toHtml(markdown: string, guides: readonly string[]): string {
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        const id = slugOf(text);
        return `<h${depth} id="${id}">${text} <a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a></h${depth}>\n`;
      },
      table(token) {
        const table = new Marked().parser([token]);
        return `<div class="wide" role="region" aria-label="Table" tabindex="0">${table}</div>`;
      },
      code({ text, lang = '' }) {
        return `<pre tabindex="0" data-language="${lang}"><code>${escapeHtml(text)}</code></pre>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const guide = /^(\w+)\.md(#.*)?$/.exec(href);
        if (guide !== null && guides.includes(guide[1]!)) {
          return `<a href="/docs/guides/${guide[1]}${guide[2] ?? ''}">${text}</a>`;
        }
        // A file of the repository is not served.
        return /^(https?:|[#/])/.test(href) ? `<a href="${escapeHtml(href)}">${text}</a>` : text;
      },
    },
  });
  return marked.parse(markdown) as string;
}

/** As GitHub does it, so that a link works there and here. */
function slugOf(html: string): string {
  const text = html.replace(/<[^>]*>/g, '').replace(/&[^;]*;/g, '');
  return text
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
