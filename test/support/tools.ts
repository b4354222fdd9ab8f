import type { Client } from './client.js';

/** A request that a tool of `tools-extension.ts` injects, with the API key of its caller. */
export interface ToolCall {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** The response to the injected request. */
export interface ToolAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** The name of a pet whose event must belong to this request and this client. */
export const petName = (requestId: string, clientId: string): string =>
  `${requestId} of ${clientId}`;

export const listCall = (url = '/v1/pets?limit=5'): ToolCall => ({
  method: 'GET',
  url,
  headers: {},
});

/** @param path `call`, or `call-and-roll-back` for a call within a transaction */
export async function callTool(
  client: Client,
  call: ToolCall,
  path = 'call',
  headers: Record<string, string> = {},
): Promise<ToolAnswer> {
  const { status, text } = await client.post(`/v1/tools/${path}`, call, headers);
  if (status !== 200) throw new Error(`The tool responds with ${status}: ${text}`);
  return JSON.parse(text) as ToolAnswer;
}
