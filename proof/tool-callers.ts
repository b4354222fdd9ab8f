import type { Client } from '../test/support/client.js';
import { callTool, listCall, petName, type ToolAnswer } from '../test/support/tools.js';

const PATHS = ['call', 'call-and-roll-back'];

/**
 * Callers of an extension that injects requests, as examples/mcp does, beside the other callers of
 * a part. Each response must belong to its request.
 */
export class ToolCallers {
  readonly faults: string[] = [];
  calls = 0;
  private isOver = false;
  private readonly ended: Promise<unknown>;

  /** @param clients with the id of their key, which is the id of the client */
  constructor(clients: readonly Client[]) {
    this.ended = Promise.all(clients.map((client) => this.callUntilStopped(client)));
  }

  /** @returns what was wrong */
  async stop(): Promise<readonly string[]> {
    this.isOver = true;
    await this.ended;
    return this.faults;
  }

  private async callUntilStopped(client: Client): Promise<void> {
    try {
      while (!this.isOver && this.faults.length === 0) await this.callOnce(client);
    } catch (error) {
      this.faults.push(String(error));
    }
  }

  /** Creates a pet, and reads two pages of a list: the second one with the cursor of the first. */
  private async callOnce(client: Client): Promise<void> {
    const number = this.calls++;
    const id = `tool-${number}`;
    const name = petName(id, client.keyId!);
    const headers = { 'x-request-id': id, 'content-type': 'application/json' };
    const body = JSON.stringify({ name, categoryId: 1 });
    const created = await callTool(client, { method: 'POST', url: '/v1/pets', headers, body });
    this.expect(201, created, name);
    if (created.headers['x-request-id'] !== id) this.faults.push(`${id} has another request's id`);
    const page = await callTool(client, listCall(), PATHS[number % PATHS.length]);
    this.expect(200, page, '[');
    const next = /<([^>]+)>; rel="next"/.exec(page.headers['link'] ?? '')?.[1];
    if (next === undefined) return;
    const { pathname, search } = new URL(next);
    this.expect(200, await client.get(pathname + search), '[');
  }

  private expect(status: number, answer: Pick<ToolAnswer, 'status' | 'text'>, part: string): void {
    if (answer.status === status && answer.text.includes(part)) return;
    this.faults.push(`expected ${status} with ${part}, got ${answer.status}: ${answer.text}`);
  }
}
