import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder } from '@nestjs/swagger';
import { Config } from '../core/config/config.js';
import { PublicAddress } from '../core/config/public-address.js';
import { errorsOf, type Extension } from '../extensions/define.js';
import { BEARER_SCHEME } from '../core/keys/api-key.guard.js';
import { Plans } from '../core/rate-limits/plan.js';
import { describeApi } from './description.js';
import type { ApiDescription } from './document.js';

/** The API of the callers. */
export function publicDocument(
  app: INestApplication,
  extensions: readonly Extension[],
): ApiDescription {
  const declared = errorsOf(extensions);
  return {
    declared,
    scheme: BEARER_SCHEME,
    bearer: {
      bearerFormat: 'API key: psk_...',
      description: 'Send the API key as `Authorization: Bearer <API_KEY>`.',
    },
    hasQuota: true,
    builder: () => {
      const { publicBaseUrl, stagingBaseUrl } = app.get(Config);
      const builder = new DocumentBuilder()
        .setTitle('Pet Store')
        .setDescription(describeApi(app.get(Plans), declared))
        .setLicense('MIT', 'https://opensource.org/license/mit')
        .addServer(app.get(PublicAddress).baseUrl, publicBaseUrl ? 'Production' : 'Local');
      const tags = extensions.flatMap((each) => Object.entries(each.tags ?? {}));
      for (const [name, text] of tags) builder.addTag(name, text);
      if (stagingBaseUrl !== undefined) builder.addServer(stagingBaseUrl, 'Staging');
      return builder;
    },
  };
}
