import type { ExecutionContext } from '@nestjs/common';
import { MessageGuard } from './message.guard.js';

interface Message {
  url?: string;
  httpVersion?: string;
  fields?: number;
  headers?: Record<string, string>;
}

describe(MessageGuard.name, () => {
  const judge = ({ url = '/v1/pets', httpVersion = '1.1', fields = 1, headers = {} }: Message) => {
    const raw = {
      url,
      httpVersion,
      headers: { host: 'x', ...headers },
      rawHeaders: Array.from({ length: 2 * fields }, () => 'a'),
    };
    const request = { raw };
    return () =>
      new MessageGuard().canActivate({
        getArgByIndex: () => request,
      } as unknown as ExecutionContext);
  };
  const refusal = (code: string) => expect.objectContaining({ code }) as Error;
  const target = (length: number): string => `/${'a'.repeat(length - 1)}`;

  it('takes a target of 8,000 characters and no longer', () => {
    expect(judge({ url: target(8_000) })()).toBe(true);
    expect(judge({ url: target(8_001) })).toThrow(refusal('uri_too_long'));
  });

  it('takes 1,000 header fields and no more', () => {
    expect(judge({ fields: 1_000 })()).toBe(true);
    expect(judge({ fields: 1_001 })).toThrow(refusal('header_fields_too_large'));
  });

  it('wants a Host in HTTP/1.1, be it empty, and none in HTTP/1.0', () => {
    const without = { headers: { host: undefined as unknown as string } };
    expect(judge(without)).toThrow(refusal('malformed_request'));
    expect(judge({ ...without, httpVersion: '1.0' })()).toBe(true);
    expect(judge({ headers: { host: '' } })()).toBe(true);
  });

  it('can be expected to continue, and nothing else', () => {
    expect(judge({ headers: { expect: '100-Continue' } })()).toBe(true);
    expect(judge({ headers: { expect: '100-continue, x' } })).toThrow(
      refusal('expectation_failed'),
    );
    expect(judge({ headers: { expect: '' } })).toThrow(refusal('expectation_failed'));
  });
});
