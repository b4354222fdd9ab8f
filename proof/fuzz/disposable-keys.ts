import { type Answer, Client } from '../../test/support/client.js';
import { type FuzzRequest, isOnKey } from './requests.js';

const ROTATE = '/v1/key/rotate';

/** Keys for requests that end the key of their caller. Each is the successor of another. */
export class DisposableKeys {
  private readonly client: Client;

  constructor(
    origin: string,
    private latest: string,
  ) {
    this.client = new Client(origin);
  }

  close(): void {
    this.client.close();
  }

  /**
   * The same request with a key that may end.
   * @returns undefined if there is none at the moment: rotations have a limit
   */
  async instead(request: FuzzRequest): Promise<FuzzRequest | undefined> {
    const usesKey = request.kind !== 'ignored_auth' && request.kind !== 'insufficient_scope';
    const mayEndIt = ['POST', 'DELETE'].includes(request.method) && isOnKey(request.operation);
    if (!usesKey || !mayEndIt) return request;
    let key: string | undefined = this.latest;
    if (request.method === 'DELETE') key = await this.rotated();
    if (key === undefined) return undefined;
    const headers = Object.assign({}, request.headers, { authorization: `Bearer ${key}` });
    return Object.assign({}, request, { headers });
  }

  /** Keeps the key of a response, which is the latest one now. */
  keep({ status, text }: Answer): void {
    const [, key] = /"key":"(psk_\w+)"/.exec(text) ?? [];
    if (status === 201 && key !== undefined) this.latest = key;
  }

  /** Rotates the latest key. @returns the old one, which nobody needs any more */
  private async rotated(): Promise<string | undefined> {
    const old = this.latest;
    const authorization = `Bearer ${old}`;
    const answer = await this.client.post(ROTATE, {}, { authorization });
    this.keep(answer);
    return answer.status === 201 ? old : undefined;
  }
}
