import type { OpenAPIObject } from '@nestjs/swagger';
import type { Guide } from './docs.files.js';

/** Programs fetch `security.txt` again after this time (RFC 9116 section 2.5.5). */
const EXPIRES_AFTER_MS = 30 * 86_400_000;

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/**
 * `llms.txt` (llmstxt.org): the API in Markdown, with one line for each operation.
 * @param origin of the documentation
 */
export function llmsText(document: OpenAPIObject, origin: string, guides: Guide[]): string {
  const { title, description } = document.info;
  const text = description!.replace(/<\/?(?:details|summary)>/g, '').trim();
  const [summary, ...sections] = text.split('\n\n');
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => {
      const { operationId: id, tags, deprecated, servers = document.servers! } = operation;
      const link = `[${id}](${origin}/docs#/${tags?.[0] ?? 'default'}/${id})`;
      const request = `\`${method.toUpperCase()} ${servers[0]!.url}${path}\``;
      return `- ${link}: ${request} ${operation.summary ?? ''}${deprecated ? ' (deprecated)' : ''}`;
    }),
  );
  const pages = guides.map((guide) => `- [${guide.title}](${origin}/docs/${guide.name}.md)`);
  return `# ${title}

> ${summary}

Base address: ${document.servers![0]!.url}

${sections.join('\n\n')}

## Operations
${operations.join('\n')}

## Guides
${pages.join('\n')}
- [OpenAPI document](${origin}/openapi.json)
`;
}

/** The links from the base address of the API to its documentation (RFC 9727, RFC 9264). */
export function apiCatalog(baseUrl: string, origin: string, guides: Guide[]): string {
  const link = (path: string, type: string) => ({ href: `${origin}${path}`, type });
  const context = {
    anchor: baseUrl,
    'service-desc': [
      link('/openapi.json', 'application/json'),
      link('/openapi.yaml', 'application/yaml'),
    ],
    'service-doc': [
      link('/docs', 'text/html'),
      link('/llms.txt', 'text/plain'),
      ...guides.map(({ name }) => link(`/docs/${name}.md`, 'text/markdown')),
    ],
    status: [link('/health/ready', 'application/json')],
  };
  return JSON.stringify({ linkset: [context] }, null, 2);
}

/**
 * `security.txt` (RFC 9116).
 * @param now milliseconds since the Unix epoch
 */
export function securityText(contact: string, origin: string, now: number): string {
  return `Contact: ${contact}
Expires: ${new Date(now + EXPIRES_AFTER_MS).toISOString()}
Canonical: ${origin}/.well-known/security.txt
`;
}
