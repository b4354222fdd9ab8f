import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  rawHeaders: string[];
  json(): any; // eslint-disable-line @typescript-eslint/no-explicit-any -- what a test expects it to be
}

export interface Call {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

/** A REST client without default headers except `Host`. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });

  constructor(
    readonly origin: string,
    readonly key?: string,
    readonly keyId?: string,
  ) {}

  get(path: string, headers: Call['headers'] = {}): Promise<Answer> {
    return this.send(path, { headers });
  }

  /** Sends JSON; a string is sent unchanged. */
  post(
    path: string,
    body: unknown,
    headers: Call['headers'] = {},
    method = 'POST',
  ): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.send(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: text,
    });
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.post(path, body, {}, 'PUT');
  }

  send(path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Answer> {
    const authorization = this.key === undefined ? {} : { authorization: `Bearer ${this.key}` };
    return new Promise((resolve, reject) => {
      const url = new URL(this.origin);
      const request = httpRequest(
        {
          host: url.hostname,
          port: url.port,
          path,
          method,
          headers: { ...authorization, ...headers },
          agent: this.agent,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({
              status: response.statusCode!,
              headers: response.headers,
              rawHeaders: response.rawHeaders,
              text,
              json: () => JSON.parse(text) as unknown,
            });
          });
          response.on('error', reject);
        },
      );
      request.on('error', (error) => {
        reject(Object.assign(error, { reusedSocket: request.reusedSocket }));
      });
      if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
      request.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
