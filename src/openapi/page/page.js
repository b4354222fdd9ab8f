import './accessible.js';
import { Answers } from './answers.js';
import { KeyStorage, storedKey } from './key-storage.js';
import { Layout } from './layout.js';
import { showQuota } from './quota.js';

const response = await fetch('/openapi.json');
const spec = await response.json();
// The server that the page came from is the first choice, whatever the public address is: a browser would
// not let the page call another origin.
const here = `${location.origin}/v1`;
if (!spec.servers.some(({ url }) => url === here)) {
  spec.servers.unshift({ url: here, description: 'This server' });
}
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
