import type { Socket } from 'node:net';
import type { ApiRequest } from './request.js';
import { assertTarget, rejectMalformed } from './malformed-message.js';

describe(assertTarget.name, () => {
  const check = (length: number) => () =>
    assertTarget({ originalUrl: 'a'.repeat(length), url: 'a'.repeat(length) } as ApiRequest);

  it('accepts a target of 8,000 characters and no longer', () => {
    expect(check(8_000)).not.toThrow();
    expect(check(8_001)).toThrow(expect.objectContaining({ code: 'uri_too_long' }));
  });
});

describe(rejectMalformed.name, () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'request_timeout'],
    ['HPE_HEADER_OVERFLOW', 431, 'header_fields_too_large'],
    ['HPE_INVALID_METHOD', 400, 'malformed_request'],
  ])('responds to %s with %i and the Error body', (code, status, error) => {
    let text = '';
    const socket = {
      writable: true,
      write: (sent: string) => (text = sent),
      destroySoon: jest.fn(),
    };
    rejectMalformed(Object.assign(new Error(), { code }), socket as unknown as Socket);
    const [head, body] = text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head!.split('\r\n')).toEqual(
      expect.arrayContaining(['Connection: close', 'Cache-Control: no-store']),
    );
    expect(JSON.parse(body!)).toEqual({ code: error, message: expect.any(String), status });
    expect(socket.destroySoon).toHaveBeenCalled();
  });

  it('writes nothing to a client that is gone', () => {
    const socket = { writable: false, write: jest.fn(), destroy: jest.fn() };
    rejectMalformed(Object.assign(new Error(), { code: 'HPE_X' }), socket as unknown as Socket);
    expect(socket.write).not.toHaveBeenCalled();
    expect(socket.destroy).toHaveBeenCalled();
  });
});
