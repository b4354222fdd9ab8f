import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Config } from '../config/config.js';
import { PublicAddress } from '../http/public-address.js';
import { BEARER_SCHEME } from '../keys/scope.guard.js';
import { describeApi } from './description.js';
import { completeDocument } from './shared-components.js';

/** The OpenAPI 3.1 document of the application as it is, guests included. */
export function buildDocument(app: INestApplication, config: Config): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(describeApi())
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addTag('pets', 'Animals up for adoption.')
    .addServer(app.get(PublicAddress).baseUrl, 'Production')
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'API key: psk_...',
        description: 'An API key, sent as `Authorization: Bearer <API_KEY>`.',
      },
      BEARER_SCHEME,
    );
  if (config.stagingBaseUrl !== undefined) builder.addServer(config.stagingBaseUrl, 'Staging');
  const document = SwaggerModule.createDocument(app, builder.build(), {
    ignoreGlobalPrefix: true,
    operationIdFactory: (_controller, method) => method,
  });
  return completeDocument(document);
}
