import {
  BadRequestException,
  ConflictException,
  HttpException,
  InternalServerErrorException,
  NotFoundException,
} from '@nestjs/common';
import { ApiError } from './api-error.js';
import { toApiError } from './to-api-error.js';

const FAILED = 'The server could not process this request';
const failure = { code: 'internal_error', message: FAILED, status: 500 };
const bodyOf = (thrown: unknown): unknown => toApiError(thrown).getResponse();
const ofFastify = (statusCode?: number): Error =>
  Object.assign(new Error('secret'), { name: 'FastifyError', statusCode });

describe(toApiError.name, () => {
  it.each([
    ['a text', new HttpException('Too late', 499), 499, 'error', 'Too late'],
    ['a message', new NotFoundException('Gone fishing'), 404, 'not_found', 'Gone fishing'],
    ['a list of messages', new BadRequestException(['a', 'b']), 400, 'invalid_request', 'a; b'],
    ['no message', new HttpException({ closed: 'Monday' }, 423), 423, 'locked', 'Http Exception'],
    ['a code', new HttpException({ code: 'closed', message: 'Now' }, 409), 409, 'closed', 'Now'],
    ['errorCode', new ConflictException('Taken', { errorCode: 'taken' }), 409, 'taken', 'Taken'],
    ['a number as code', new HttpException({ code: 7, message: 'Now' }, 410), 410, 'gone', 'Now'],
    ['an empty code', new HttpException({ code: '', message: 'Now' }, 410), 410, 'gone', 'Now'],
  ])('keeps what an exception with %s says', (_what, thrown, status, code, message) => {
    expect(bodyOf(thrown)).toEqual({ code, message, status });
    expect(toApiError(thrown).getStatus()).toBe(status);
    expect(toApiError(thrown).cause).toBe(thrown);
  });

  it.each([0, 99, 100, 199, 600, 1404, 4040, -404, 404.5, Number.NaN])(
    'makes a failure of an exception with the status %d',
    (status) => {
      const thrown = new HttpException('secret', status);
      expect(bodyOf(thrown)).toEqual(failure);
      expect(toApiError(thrown).cause).toBe(thrown);
    },
  );

  it('hides the message of a 500, and keeps its code', () => {
    expect(bodyOf(new InternalServerErrorException('secret'))).toEqual(failure);
    const broken = { code: 'broken', message: 'secret' };
    expect(bodyOf(new HttpException(broken, 500))).toEqual({ ...failure, code: 'broken' });
    expect(bodyOf(new HttpException('Not yet', 501))).toMatchObject({ message: 'Not yet' });
  });

  it('keeps the headers of an error of the service alone', () => {
    const headers = { 'X-Info': 'kept' };
    const broken = { code: 'broken', status: 500 };
    expect(toApiError(new ApiError(broken, 'secret', { headers })).headers).toEqual(headers);
    expect(toApiError(new ApiError(broken, 'secret')).headers).toEqual({});
    const foreign = Object.assign(new HttpException('x', 409), { headers });
    expect(toApiError(foreign).headers).toEqual({});
  });

  it.each([
    [400, 'invalid_request', 'Bad Request'],
    [415, 'unsupported_media_type', 'Unsupported Media Type'],
  ])("has the name of the status in place of the text of Fastify's %i", (status, code, message) => {
    const thrown = ofFastify(status);
    for (const each of [thrown, new HttpException('secret', status, { cause: thrown })]) {
      expect(bodyOf(each)).toEqual({ code, message, status });
      expect(toApiError(each).cause).toBe(each);
    }
  });

  it('takes no status from an error of Fastify that has none', () => {
    expect(bodyOf(ofFastify())).toEqual(failure);
    const thrown = new ConflictException('Taken', { cause: ofFastify() });
    expect(bodyOf(thrown)).toEqual({ code: 'conflict', message: 'Taken', status: 409 });
  });

  it.each([
    ['an error', new Error('secret')],
    ['an error of another library', Object.assign(new Error('secret'), { statusCode: 404 })],
    ['an object', { message: 'secret', status: 404 }],
    ['a text', 'secret'],
    ['nothing', undefined],
  ])('makes a failure of %s, and keeps it for the log', (_what, thrown) => {
    expect(bodyOf(thrown)).toEqual(failure);
    expect(toApiError(thrown).cause).toBe(thrown);
  });
});
