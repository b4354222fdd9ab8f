import { Marked } from 'marked';

const marked = new Marked({
  async: false,
  renderer: {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens);
      const id = slugOf(text);
      const anchor = `<a class="anchor" href="#${id}" aria-label="Link to ${id}">#</a>`;
      return `<h${depth} id="${id}">${text}&nbsp;${anchor}</h${depth}>\n`;
    },
  },
});

/**
 * A guide as HTML, with a table of its contents. The text is the project's own and is not
 * sanitised.
 */
export function toHtml(markdown: string): string {
  const html = marked.parse(markdown) as string;
  const headings = html.matchAll(/<h2 id="([^"]+)">(.+)&nbsp;<a class/g);
  const items = Array.from(headings, ([, id, text]) => `<li><a href="#${id}">${text}</a></li>`);
  const contents = `<nav class="contents" aria-label="Contents"><ul>${items.join('')}</ul></nav>`;
  return (
    html
      .replace('</h1>', `$&${contents}`)
      .replace(/<a href="\/docs\/(\w+)\.md/g, '<a href="/docs/guides/$1')
      // Scrollable elements must be reachable by keyboard.
      .replaceAll('<pre>', '<pre tabindex="0">')
      .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
  );
}

/** The same slug as on GitHub, so that links work in both places. */
function slugOf(html: string): string {
  const text = html.replace(/<[^>]*>|&[^;]*;/g, '').toLowerCase();
  return text.replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
}
