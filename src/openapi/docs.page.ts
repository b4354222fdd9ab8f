export interface PageOptions {
  /** The folder of the assets. */
  assets: string;
  /** The guides of the navigation: name and title. */
  guides: Record<string, string>;
  title: string;
  /** HTML between navigation and end. */
  main: string;
  /** The guide that this is; undefined for the reference. */
  current?: string;
  /** HTML of the head. */
  head?: string;
}

/** The frame of every page; all that it loads is served beside it. */
export function pageOf({ assets, guides, title, main, current, head = '' }: PageOptions): string {
  const link = (href: string, text: string, isCurrent: boolean): string =>
    `<a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${text}</a>`;
  const links = [
    link('/docs', 'Reference', current === undefined),
    ...Object.entries(guides).map(([name, text]) =>
      link(`/docs/guides/${name}`, text, name === current),
    ),
    link('/openapi.json', 'JSON', false),
    link('/openapi.yaml', 'YAML', false),
  ];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" type="image/svg+xml" href="${assets}/favicon.svg" />
    <script src="${assets}/theme.js"></script>
    <link rel="stylesheet" href="${assets}/swagger-ui.css" />
    <link rel="stylesheet" href="${assets}/page.css" />${head}
  </head>
  <body>
    <header class="masthead">
      <a class="brand" href="/docs"><img src="${assets}/favicon.svg" alt="" width="28" height="28" />Pet Store <span>API</span></a>
      <nav aria-label="Documentation">${links.join('')}</nav>
    </header>
    ${main}
  </body>
</html>
`;
}

/**
 * Swagger UI, and what is left of the reader's quota.
 * @param explained the error codes that the guide for clients has an entry of
 */
export function referencePage(
  options: Pick<PageOptions, 'assets' | 'guides'>,
  explained: readonly string[],
): string {
  const { assets } = options;
  return pageOf({
    ...options,
    title: 'Pet Store API',
    head: `
    <script src="${assets}/reload.js"></script>
    <script defer src="${assets}/swagger-ui-bundle.js"></script>
    <script type="module" src="${assets}/page.js"></script>`,
    main: `<aside id="quota" aria-label="What is left of your quota" hidden>${meter('minute')}${meter('day')}</aside>
    <div id="swagger-ui" data-explained="${explained.join(' ')}"><p class="loading" role="status">Loading the reference</p></div>
    <noscript><p class="loading">The reference needs JavaScript. The same is in <a href="/openapi.yaml">openapi.yaml</a>.</p></noscript>`,
  });
}

function meter(window: string): string {
  return `<p data-window="${window}"><span>This ${window}</span><meter aria-label="Requests left this ${window}" min="0" max="1" value="1"></meter><b></b> <small></small></p>`;
}
