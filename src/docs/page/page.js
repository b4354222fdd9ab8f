import './accessible.js';
import { Answers } from './answers.js';
import { loadDocument } from './document.js';
import { KeyStorage, storedKey } from './key-storage.js';
import { Layout } from './layout.js';
import { openForPrint } from './print.js';
import { showQuota } from './quota.js';
import { references } from './references.js';
import { Samples } from './samples.js';
import { Start } from './start.js';

const spec = await loadDocument();
// The address of the admin API is relative.
for (const server of spec.servers) {
  server.url = new URL(server.url, location.href).href.replace(/\/$/, '');
}
// A browser blocks calls to other origins, so the server of this origin comes first, whatever
// PUBLIC_BASE_URL is.
const here = spec.servers.find(({ url }) => new URL(url).origin === location.origin) ?? {
  url: `${location.origin}/v1`,
  description: 'This server',
};
spec.servers = [here, ...spec.servers.filter((server) => server !== here)];
const ui = SwaggerUIBundle({
  spec,
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'StartLayout',
  plugins: [KeyStorage, references(spec), Answers, Layout, Samples, Start],
  responseInterceptor: (response) => {
    showQuota(response);
    return response;
  },
  onComplete: () => {
    const key = storedKey();
    if (key) ui.preauthorizeApiKey('apiKey', key);
  },
});
openForPrint(ui, spec);

/** Swagger UI follows the address only when it starts. */
addEventListener('hashchange', () => {
  ui.layoutActions.parseDeepLinkHash(location.hash);
  const id = `operations${location.hash.slice(1).replaceAll('/', '-')}`;
  document.getElementById(id)?.scrollIntoView();
});
