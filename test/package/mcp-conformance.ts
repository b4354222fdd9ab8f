import { createServer, request } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The official suite of the Model Context Protocol, which requires a later Node than this project. */
const SUITE = ['--package=node@24', '--package=@modelcontextprotocol/conformance@0.1.16'];
/** A message that calls no tool counts as a request to getUsage: at most 60 a minute and client. */
const CLIENTS = 4;

/**
 * Runs the official suite, which cannot send a key, through a proxy that adds one.
 * @param run runs a program that must succeed
 * @throws if a scenario fails that is not in the file of expected failures, or passes although it is
 */
export async function checkMcp(
  origin: string,
  issueKey: () => Promise<string>,
  run: (command: string, args: string[]) => Promise<string>,
): Promise<void> {
  const keys: string[] = [];
  while (keys.length < CLIENTS) keys.push((await issueKey()).trim());
  const proxy = createServer((message, response) => {
    const key = keys.shift()!;
    keys.push(key);
    const headers = { ...message.headers, authorization: `Bearer ${key}` };
    const options = { method: message.method, headers };
    const forwarded = request(`${origin}/v1/mcp`, options, (received) => {
      received.pipe(response.writeHead(received.statusCode!, received.headers));
    });
    message.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
  const options = ['--url', url, '--expected-failures', 'conformance.yml'];
  try {
    await run('npm', ['exec', '--yes', ...SUITE, '--', 'conformance', 'server', ...options]);
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
}
