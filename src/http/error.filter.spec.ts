import { ForbiddenException, HttpException, NotFoundException } from '@nestjs/common';
import type { Logger } from '../telemetry/logger.js';
import { ApiError, ERROR_CODES } from './api-error.js';
import { ErrorFilter } from './error.filter.js';
import type { ApiReply, ApiRequest } from './request-context.js';

const outage = new Error('the database is away');
const request = { id: 'r1', operation: 'listPets' } as unknown as ApiRequest;

describe(ErrorFilter.name, () => {
  const logger = { error: jest.fn(), debug: jest.fn() };
  const filter = new ErrorFilter(
    { isOutage: (error) => error === outage },
    logger as unknown as Logger,
  );
  beforeEach(() => jest.clearAllMocks());

  const answerTo = (thrown: unknown, sent = false) => {
    const answer = { status: 0, headers: {} as Record<string, unknown>, body: '' };
    const reply = {
      sent,
      code: (status: number) => ((answer.status = status), reply),
      type: (type: string) => ((answer.headers['content-type'] = type), reply),
      headers: (headers: object) => (Object.assign(answer.headers, headers), reply),
      send: (body: string) => ((answer.body = body), reply),
    };
    filter.send(filter.toApiError(thrown), request, reply as unknown as ApiReply);
    return answer;
  };
  const statusAndCode = (thrown: unknown) => {
    const { status, code } = filter.toApiError(thrown);
    return [status, code];
  };

  it('answers an error of ours as it is, with its headers', () => {
    const error = new ApiError('not_found', 'Nope', { headers: { Allow: 'GET' }, cause: 'secret' });
    expect(answerTo(error)).toEqual({
      status: 404,
      headers: { 'content-type': 'application/json; charset=utf-8', Allow: 'GET' },
      body: '{"code":"not_found","message":"Nope","status":404}',
    });
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('answers an outage with 503, and leaves the log to who noticed it', () => {
    expect(answerTo(outage)).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
    expect(logger.error).not.toHaveBeenCalled();
  });

  it.each([
    ['an error', new TypeError('secret')],
    ['an outage of another kind', Object.assign(new Error('secret'), { code: 'ECONNREFUSED' })],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['null', null],
    ['an object', { message: 'secret', status: 404, headers: { 'X-Secret': '1' } }],
    ['what says it is a success', { statusCode: 200, message: 'secret' }],
    ['what has a status of no meaning', { statusCode: '404', message: 'secret' }],
    ['an exception of a status that the API has not', new HttpException('secret', 418)],
    ['a failure in the words of Nest', new HttpException('secret', 500)],
  ])('tells the caller nothing of %s, and the log everything', (_what, thrown) => {
    const { status, headers, body } = answerTo(thrown);
    expect(status).toBe(500);
    expect(JSON.stringify(headers) + body).not.toMatch(/secret/i);
    expect(JSON.parse(body)).toMatchObject({ code: 'internal_error', status: 500 });
    const [details] = logger.error.mock.calls[0] as [Record<string, unknown>];
    expect(details).toMatchObject({ requestId: 'r1', operation: 'listPets' });
    if (thrown != null) expect(details['err']).toBe(thrown);
  });

  it.each([
    [new NotFoundException('secret'), 404, 'not_found'],
    [new ForbiddenException('secret'), 403, 'insufficient_scope'],
    [Object.assign(new Error('secret'), { statusCode: 400 }), 400, 'malformed_request'],
    [Object.assign(new Error('secret'), { statusCode: 414 }), 414, 'uri_too_long'],
  ])('puts %s into the words of the API', (thrown, status, code) => {
    expect(statusAndCode(thrown)).toEqual([status, code]);
    expect(answerTo(thrown).body).not.toContain('secret');
  });

  it('answers a status of a framework with a code of that status', () => {
    for (let status = 400; status < 500; status++) {
      const error = filter.toApiError(new HttpException('x', status));
      expect(ERROR_CODES[error.code].status).toBe(error.status);
      expect([status, 500]).toContain(error.status);
    }
  });

  it('sends nothing a second time', () => {
    expect(answerTo(new Error('late'), true)).toMatchObject({ status: 0, body: '' });
    expect(logger.error).toHaveBeenCalledTimes(1);
  });
});
