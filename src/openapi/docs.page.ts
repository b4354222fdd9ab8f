/**
 * Of the documented responses, errors repeat the six headers of every response, which come first: the
 * page shows only what is their own.
 */
const STYLE = `
      #swagger-ui .response[data-code^='4'] .headers tbody tr:nth-child(-n + 6),
      #swagger-ui .response[data-code^='5'] .headers tbody tr:nth-child(-n + 6),
      #swagger-ui .response:is([data-code^='4'], [data-code^='5'])
        .headers-wrapper:not(:has(tbody tr:nth-child(7))) {
        display: none;
      }`;

/** The page of Swagger UI; all that it loads is served beside it. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Pet Store API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <style>${STYLE}
    </style>
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/initializer.js"></script>
  </body>
</html>
`;

/**
 * The server that the page came from is the first choice of "Try it out", whatever the public address is:
 * a browser would not let the page call another origin.
 */
export const INITIALIZER = `window.onload = async () => {
  const response = await fetch('/openapi.json');
  const spec = await response.json();
  const here = location.origin + '/v1';
  if (!spec.servers.some((server) => server.url === here)) {
    spec.servers.unshift({ url: here, description: 'This server' });
  }
  window.ui = SwaggerUIBundle({
    spec,
    dom_id: '#swagger-ui',
    deepLinking: true,
    persistAuthorization: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    presets: [SwaggerUIBundle.presets.apis],
  });
};
`;
