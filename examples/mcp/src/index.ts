import { Module } from '@nestjs/common';
import { defineExtension } from 'pet-store-service';
import { McpController } from './mcp.controller.js';
import { Operations } from './operations.js';
import { OPERATION_IDS, Tools } from './tools.js';

@Module({ controllers: [McpController], providers: [Operations, Tools] })
class McpModule {}

/**
 * `POST /v1/mcp`: a server of the Model Context Protocol.
 * @param options.operations the `operationId`s that are tools
 */
export const storeMcp = ({ operations }: { operations: readonly string[] }) =>
  defineExtension({
    name: 'store-mcp',
    compatibility: '^1.0.0',
    module: { module: McpModule, providers: [{ provide: OPERATION_IDS, useValue: operations }] },
    tags: { mcp: 'Operations as tools for agents.' },
    // A browser may send these headers of the protocol.
    requestHeaders: ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
    from: import.meta.url,
  });
