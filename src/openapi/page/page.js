import './accessible.js';
import { Answers } from './answers.js';
import { loadDocument } from './document.js';
import { KeyStorage, storedKey } from './key-storage.js';
import { Layout } from './layout.js';
import { showQuota } from './quota.js';

const spec = await loadDocument();
// The origin that the page came from is the first choice, whatever the public address is: a browser would
// not let the page call another one. What a proxy has put before /v1, the document's own address says.
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
  plugins: [KeyStorage, Answers, Layout],
  responseInterceptor: (answer) => {
    showQuota(answer.headers);
    return answer;
  },
  onComplete: () => {
    const key = storedKey();
    if (key !== undefined) ui.preauthorizeApiKey('apiKey', key);
  },
});
