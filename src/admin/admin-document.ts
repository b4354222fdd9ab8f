import { DocumentBuilder } from '@nestjs/swagger';
import { errorsOf } from '../extensions/define.js';
import type { ApiDescription } from '../docs/document.js';

/** The API of operators. */
export const ADMIN_API: ApiDescription = {
  scheme: 'adminToken',
  bearer: {
    bearerFormat: 'Admin token: psa_...',
    description:
      'A token of `petstore admin issue`. Responses have its role in `X-Admin-Role`: an `operator` ' +
      'may do everything, a `viewer` only `GET`; anything else is 403 `insufficient_scope`.',
  },
  hasQuota: false,
  declared: errorsOf([]),
  builder: () =>
    new DocumentBuilder()
      .setTitle('Pet Store admin API')
      .setDescription('Issues, changes and revokes API keys, and shows how they are used.')
      .addTag('keys', 'The API keys of all clients.')
      .addTag('usage', 'Requests and changes of all keys.')
      .addServer('/', 'This server'),
};
