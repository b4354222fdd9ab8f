import type { ErrorDefinition } from '../core/errors/api-error.js';
import type { Plans } from '../core/rate-limits/plan.js';

/** The description of the API: what applies to every operation. */
export function describeApi(plans: Plans, errors: ReadonlyMap<string, ErrorDefinition>): string {
  return `This is the API of a pet store.

## Authentication
Send your API key with every request: \`Authorization: Bearer <API_KEY>\`.

## Rate limits
The service counts the requests of a key in two windows: the UTC minute and the UTC day.

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
${planRows(plans)}

Every response states the remaining quota, except a \`malformed_request\`, \`request_timeout\` or
\`header_fields_too_large\` that is sent before the request could be parsed. The \`X-RateLimit-*\`
headers describe the window with the fewest requests left; \`RateLimit\` and \`RateLimit-Policy\`
describe both windows. After a 429, wait for the number of seconds in \`Retry-After\`.
A key with too many 429 responses is temporarily banned (\`key_banned\`).

## Errors
Every error has the body \`{"code", "message", "status"}\`.

<details>
<summary>Error codes</summary>

| Status | Code | Meaning |
| --- | --- | --- |
${codeRows(errors)}

</details>
`;
}

function planRows(plans: Plans): string {
  return plans.names
    .map((name) => {
      const limits = plans.of(name);
      const plan = name[0]!.toUpperCase() + name.slice(1);
      const [minute, day] = limits ? [limits.perMinute, limits.perDay] : ['custom', 'custom'];
      return `| ${plan} | ${minute.toLocaleString('en')} | ${day.toLocaleString('en')} |`;
    })
    .join('\n');
}

function codeRows(errors: ReadonlyMap<string, ErrorDefinition>): string {
  return Array.from(errors.values())
    .sort((one, other) => one.status - other.status)
    .map(({ code, status, meaning }) => `| ${status} | \`${code}\` | ${meaning} |`)
    .join('\n');
}
