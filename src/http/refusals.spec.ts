import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { errors } from '../errors/errors.js';
import { admitsUnguarded, answerBroken } from './refusals.js';
import type { ApiReply, ApiRequest } from './request-context.js';

describe(answerBroken.name, () => {
  it('keeps the first of many packets of nonsense behind an answer that is still to come', () => {
    const raw = Object.assign(new EventEmitter(), { writableFinished: false });
    const reply = { raw, sent: false, request: { raw: { complete: true } } } as unknown as ApiReply;
    const written: string[] = [];
    const socket = {
      writable: true,
      end: (text: string) => written.push(text),
    } as unknown as Socket;
    const answered = jest.fn();
    for (let packet = 0; packet < 1_000; packet++) {
      const error = Object.assign(new Error(), { code: 'HPE_INVALID_METHOD' });
      answerBroken(error, socket, reply, answered);
    }
    expect(raw.listenerCount('finish')).toBe(1);
    raw.emit('finish');
    expect(written).toHaveLength(1);
    expect(answered).toHaveBeenCalledTimes(1);
  });

  const LONG = 'a'.repeat(20_000);
  const answerTo = (packet: string, read: string): string => {
    let answer = '';
    const error = { name: '', message: '', code: 'HPE_HEADER_OVERFLOW' };
    const socket = { writable: true, end: (text: string) => (answer = text) };
    answerBroken(
      { ...error, rawPacket: Buffer.from(packet), bytesParsed: read.length },
      socket as unknown as Socket,
      undefined,
      () => undefined,
    );
    return answer;
  };

  it.each([
    ['a target', `GET /${LONG}`, ''],
    ['a target whose line is complete', `GET /${LONG}`, ' HTTP/1.1\r\n\r\n'],
    [
      'the target of a later request',
      `GET / HTTP/1.1\r\n\r\nM-SEARCH /${LONG}`,
      ' HTTP/1.1\r\n\r\n',
    ],
    ['the end of a target', LONG, ' HTTP/1.1\r\n\r\n'],
  ])('answers %s that Node has no room for with 414', (_what, read, rest) => {
    expect(answerTo(read + rest, read)).toMatch(/^HTTP\/1\.1 414 [^]*"uri_too_long"/);
  });

  it.each([
    ['a field', `GET / HTTP/1.1\r\nX: ${LONG}\r`, '\n\r\n'],
    ['the name of a field', `GET / HTTP/1.1\r\n${LONG}`, ': a\r\n\r\n'],
    ['a part of a field', LONG, ''],
  ])('answers %s that Node has no room for with 431', (_what, read, rest) => {
    expect(answerTo(read + rest, read)).toMatch(/^HTTP\/1\.1 431 [^]*"header_fields_too_large"/);
  });
});

describe(admitsUnguarded.name, () => {
  const reply = {} as ApiReply;
  const judge = jest.fn<Promise<void>, []>();
  const sendError = jest.fn();
  const admits = (request: { url: string; operation?: string }) =>
    admitsUnguarded({ judge, sendError }, request as ApiRequest, reply);
  beforeEach(() => {
    judge.mockReset().mockResolvedValue();
    sendError.mockReset();
  });

  it('has a caller below /v1 judged, and answers whom it refuses', async () => {
    expect(await admits({ url: '/v1/pets' })).toBe(true);
    expect(judge).toHaveBeenCalledTimes(1);
    expect(sendError).not.toHaveBeenCalled();
    const refusal = errors.missing_api_key('');
    judge.mockRejectedValue(refusal);
    expect(await admits({ url: '/v1/pets' })).toBe(false);
    expect(sendError).toHaveBeenCalledWith(refusal, { url: '/v1/pets' }, reply);
  });

  it('judges nobody twice, and nobody outside /v1', async () => {
    judge.mockRejectedValue(errors.missing_api_key(''));
    expect(await admits({ url: '/v1/pets', operation: 'listPets' })).toBe(true);
    expect(await admits({ url: '/open/shop' })).toBe(true);
    expect(judge).not.toHaveBeenCalled();
  });
});
