import { Injectable } from '@nestjs/common';
import { DocumentBuilder } from '@nestjs/swagger';
import { isOnAdminPort } from '../http/admin-port.js';
import { type ApiDescription, DocumentSource } from '../openapi/document.js';

/** The document of the admin API. */
@Injectable()
export class AdminDocument extends DocumentSource {}

export const ADMIN_API: ApiDescription = {
  scheme: 'adminToken',
  bearer: {
    bearerFormat: 'Admin token: psa_...',
    description: 'A token of `petstore admin issue`.',
  },
  hasQuota: false,
  declared: new Map(),
  includes: isOnAdminPort,
  builder: () =>
    new DocumentBuilder()
      .setTitle('Pet Store admin API')
      .setDescription('Issues, changes and revokes API keys, and shows how they are used.')
      .addTag('keys', 'The API keys of all clients.')
      .addTag('usage', 'Requests and changes of all keys.')
      .addServer('/', 'This server'),
};
