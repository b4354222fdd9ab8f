import { ServerResponse } from 'node:http';

/**
 * Sends a short response in one piece. Node's `end(text)` writes the text and then nothing: two
 * chunks, for which `writev` allocates memory. One chunk saves 5 to 7 % of a list.
 */
export class SingleChunkResponse extends ServerResponse {
  override end(...args: unknown[]): this {
    const [text, encoding, callback] = args;
    const { socket } = this;
    const isText = typeof text === 'string' && text !== '' && typeof encoding !== 'function';
    if (isText && this.headersSent && !this.chunkedEncoding && socket?.writableCorked === 0) {
      socket.cork();
      this.write(text, encoding as BufferEncoding);
      socket.uncork();
      return super.end(callback as (() => void) | undefined);
    }
    return super.end(...(args as [unknown, BufferEncoding]));
  }
}
