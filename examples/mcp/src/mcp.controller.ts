import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { AnyScope } from 'pet-store-service';
import type { CallerRequest } from './operations.js';
import { Tools } from './tools.js';

interface Reply {
  status(code: number): this;
  header(name: string, value: string): this;
}

const JSON_RPC = { type: 'object', additionalProperties: true };

@ApiTags('mcp')
@Controller('mcp')
export class McpController {
  constructor(private readonly tools: Tools) {}

  // A tool consumes the quota of the operation that it calls. The protocol itself consumes none.
  @Post()
  @AnyScope()
  @SkipThrottle()
  @ApiOperation({
    summary: 'Call the server of the Model Context Protocol',
    description: 'JSON-RPC. Every tool runs one operation with your API key.',
  })
  @ApiBody({ schema: JSON_RPC })
  @ApiOkResponse({ description: 'The response of JSON-RPC.', schema: JSON_RPC })
  async callMcp(
    @Req() request: CallerRequest,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<string> {
    const server = new McpServer({ name: 'pet-store', version: '1.0.0' });
    await this.tools.register(server, request);
    // Stateless: a server for each request, and no subscriptions, which would stay open.
    const { fetch } = createMcpHandler(() => server, { maxSubscriptions: 0 });
    const { headers, body: parsedBody } = request;
    const message = new Request('http://localhost/v1/mcp', { method: 'POST', headers });
    const response = await fetch(message, { parsedBody });
    reply.status(response.status);
    reply.header('content-type', response.headers.get('content-type') ?? 'application/json');
    return response.text();
  }
}
