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
    .addTag('usage', 'What a key may, and what is left of it.')
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
  const names = new Map<string, string>();
  const document = SwaggerModule.createDocument(app, builder.build(), {
    ignoreGlobalPrefix: true,
    operationIdFactory: (controller, method) => {
      names.set(`${controller}_${method}`, method);
      return `${controller}_${method}`;
    },
  });
  document.info.contact = { name: 'The operator who issued your API key' };
  shortenOperationIds(document, names);
  return completeDocument(document);
}

/** The method's name, where no other operation has it. */
function shortenOperationIds(document: OpenAPIObject, names: ReadonlyMap<string, string>): void {
  const operations = Object.values(document.paths)
    .flatMap((item) => Object.values(item as Record<string, { operationId?: string }>))
    .filter(({ operationId }) => operationId !== undefined);
  const taken = new Map<string, number>();
  for (const { operationId = '' } of operations) {
    const name = names.get(operationId) ?? operationId;
    taken.set(name, (taken.get(name) ?? 0) + 1);
  }
  for (const operation of operations) {
    const name = names.get(operation.operationId!);
    if (name !== undefined && taken.get(name) === 1) operation.operationId = name;
  }
}
