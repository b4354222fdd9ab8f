import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { AnyScope, errors } from 'pet-store-service';
import { type CallerRequest, Operations } from './operations.js';
import { Tools } from './tools.js';

interface Message {
  method?: unknown;
}

interface Reply {
  status(code: number): this;
  header(name: string, value: string): this;
}

/** The SDK rejects more, after every call has been counted. */
const MAX_MESSAGES = 100;
const JSON_RPC = { type: 'object', additionalProperties: true };

@ApiTags('mcp')
@Controller('mcp')
export class McpController {
  constructor(
    private readonly tools: Tools,
    private readonly operations: Operations,
  ) {}

  // A tool consumes the quota of the operation that it calls.
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
    const messages = [request.body].flat() as (Message | null | undefined)[];
    if (messages.length > MAX_MESSAGES) {
      await this.countAsUsage(1, request);
      throw errors.invalid_request(`A batch has at most ${MAX_MESSAGES} messages`);
    }
    const calls = messages.filter((message) => message?.method === 'tools/call').length;
    let ran = 0;
    await this.countAsUsage((messages.length || 1) - calls, request);
    const server = new McpServer({ name: 'pet-store', version: '1.0.0' });
    await this.tools.register(server, request, () => ran++);
    // Stateless: a server for each request, and no subscriptions, which would stay open.
    const { fetch } = createMcpHandler(() => server, { maxSubscriptions: 0 });
    const { headers, body } = request;
    // The SDK never responds to a batch that cancels one of its requests.
    const parsedBody = Array.isArray(body) ? messages.map(withoutCancelledId) : body;
    const message = new Request('http://localhost/v1/mcp', { method: 'POST', headers });
    const response = await fetch(message, { parsedBody });
    // Such as calls of unknown tools. The results of tools that ran are sent in any case.
    await this.countAsUsage(calls - ran, request).catch((error: unknown) => {
      if (ran === 0) throw error;
    });
    reply.status(response.status);
    reply.header('content-type', response.headers.get('content-type') ?? 'application/json');
    return response.text();
  }

  /**
   * Each message that calls no operation counts as a request to getUsage, which consumes no quota and
   * is limited to 60 a minute, also for a key that is banned.
   */
  private async countAsUsage(times: number, request: CallerRequest): Promise<void> {
    for (let count = 0; count < times; count++) await this.operations.read('/v1/usage', request);
  }
}

function withoutCancelledId(message: Message | null | undefined) {
  return message?.method === 'notifications/cancelled' ? { ...message, params: {} } : message;
}
