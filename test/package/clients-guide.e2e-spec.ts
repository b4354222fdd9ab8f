import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errors } from '../../src/index.js';
import { itWith } from '../support/engines.js';
import { serveHttp } from '../support/serve-http.js';
import { startService, type TestService } from '../support/start-service.js';

const run = promisify(execFile);
const GUIDE = readFileSync('docs/clients.md', 'utf8');
const SNIPPETS = [...GUIDE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
  language: language!,
  text: text!,
}));

/** The file and the command of a program in each language. */
const RUNNERS: Record<string, { file: string; command: readonly string[] }> = {
  sh: { file: 'snippet.sh', command: ['bash', '-e'] },
  js: { file: 'snippet.mjs', command: ['node'] },
  python: { file: 'snippet.py', command: ['python3'] },
  go: { file: 'main.go', command: ['go', 'run'] },
  java: { file: 'Main.java', command: ['java'] },
};
/** The output of each snippet, in the order of the guide. */
const PRINTED: Record<string, readonly RegExp[]> = {
  sh: [
    /^$/,
    /^HTTP\/1.1 200 OK\r?\n.*"George"/s,
    /^HTTP\/1.1 304 Not Modified\r?\n/,
    /^{"id":.*"key":"psk_/,
    /^{.*"expiresAt":null.*}{"id":.*"key":"psk_/s,
    /^{.*"limits":.*}{"hours":/s,
    /deprecation: @1764892800.*sunset: Thu, 05 Dec 2030/s,
  ],
  python: [/^\d+ pets\n$/, /^\d+ pets in all\n$/, /^exact\n$/],
  js: [/^one pet\n$/, /^exact\n$/],
  go: [/^true\n$/],
  java: [/^true\n$/],
};

describe('docs/clients.md', () => {
  let service: TestService;
  let directory: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-guide-'));
    service = await startService();
    const client = await service.client();
    for (const name of ['George', 'Leo', 'Basil']) {
      await client.post('/v1/pets', { name, categoryId: 7 });
    }
    const { PATH = '', HOME = directory } = process.env;
    env = {
      PATH,
      HOME,
      GOCACHE: join(directory, 'go-cache'),
      // The programs use only standard libraries.
      GOPROXY: 'off',
      GOTOOLCHAIN: 'local',
      PETSTORE_URL: `${service.origin}/v1`,
      PETSTORE_API_KEY: client.key!,
    };
  });
  afterAll(async () => {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });

  for (const [language, { file, command }] of Object.entries(RUNNERS)) {
    const snippets = SNIPPETS.filter((snippet) => snippet.language === language);
    it(`has a snippet of ${language} for each that is expected`, () => {
      expect(snippets.length).toBe(PRINTED[language]!.length);
    });
    itWith(command[0]!).each(snippets.map(({ text }, index) => [index + 1, text] as const))(
      `${language}, snippet %i, runs and prints what it should`,
      async (number, text) => {
        const path = join(directory, file);
        // The placeholders of the first snippet would replace the variables of the environment.
        writeFileSync(path, text.replace(/^export .*$/gm, ''));
        const { key } = await service.client({ scopes: ['pets:read', 'pets:write', 'key:rotate'] });
        const { stdout } = await run(command[0]!, [...command.slice(1), path], {
          cwd: directory,
          env: { ...env, PETSTORE_API_KEY: key! },
        });
        expect(stdout).toMatch(PRINTED[language]![number - 1]!);
      },
      // Go compiles its standard library first.
      300_000,
    );
  }

  itWith('python3')(
    'retries each failure that the table of the guide calls temporary',
    async () => {
      const fail = (code: string, status: number, headers = {}): RequestListener => {
        return (_request, response) =>
          response.writeHead(status, headers).end(JSON.stringify({ code, message: '', status }));
      };
      const answers: RequestListener[] = [
        (_request, response) => response.writeHead(502).end('<html>Bad Gateway</html>'),
        fail('internal_error', 500),
        (request) => request.socket.destroy(),
        fail('service_unavailable', 503, { 'Retry-After': '1' }),
        (_request, response) => response.end('[{}, {}]'),
      ];
      const server = createServer((...exchange) => answers.shift()!(...exchange)).listen(0);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const { text } = SNIPPETS.find(({ language }) => language === 'python')!;
      const program = run('python3', ['-c', text], {
        env: { ...env, PETSTORE_URL: `http://127.0.0.1:${port}` },
      });
      expect((await program.finally(() => server.close())).stdout).toBe('2 pets\n');
    },
  );

  it.each(SNIPPETS.filter(({ language }) => language === 'js'))(
    'prints the error of a wrong key: js, snippet %#',
    async ({ text }) => {
      const path = join(directory, 'wrong-key.mjs');
      writeFileSync(path, text);
      const program = run('node', [path], { env: { ...env, PETSTORE_API_KEY: 'psk_wrong' } });
      await expect(program).rejects.toMatchObject({
        stdout: '',
        stderr: expect.stringContaining('Error: {"code":"invalid_api_key"'),
      });
    },
  );

  itWith('python3')('does not wait for the end of the day', async () => {
    const body = { code: 'rate_limit_exceeded', message: '', status: 429 };
    await using server = await serveHttp((_request, response) => {
      response.writeHead(429, { 'Retry-After': '80000' }).end(JSON.stringify(body));
    });
    const { text } = SNIPPETS.find(({ language }) => language === 'python')!;
    const options = { env: { ...env, PETSTORE_URL: server.origin }, timeout: 30_000 };
    const program = run('python3', ['-c', text], options);
    await expect(program).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^try again in 8\d{4} seconds/),
    });
  });

  it('says of each operation for a banned key that it works', async () => {
    const client = await service.client({ perMinute: 1, perDay: 1_000 });
    while (!(await client.get('/v1/pets')).text.includes('key_banned'));
    const works = GUIDE.match(/operations below\s+`\/usage` and `\/key` work/g);
    expect(works).toHaveLength(2);
    expect(GUIDE).not.toMatch(/only `GET \/usage` works/);
    for (const path of ['/v1/usage', '/v1/usage/history', '/v1/key']) {
      expect([path, (await client.get(path)).status]).toEqual([path, 200]);
    }
  });

  it('has an entry for each code, under its status, and for no other', () => {
    const entries = [...GUIDE.matchAll(/^### (\w+)\n\nStatus (\d{3})\. /gm)].map(
      ([, code, status]) => [code, Number(status)],
    );
    const codes = Object.entries(errors).map(([code, { status }]) => [code, status]);
    expect(entries.sort()).toEqual(codes.sort());
  });
});
