import {
  BadRequestException,
  ConflictException,
  ForbiddenException,
  HttpException,
  ImATeapotException,
  MethodNotAllowedException,
  NotFoundException,
  NotImplementedException,
  ServiceUnavailableException,
  UnauthorizedException,
  UnprocessableEntityException,
} from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { Logger } from './telemetry/logger.js';
import { ApiError } from './errors/api-error.js';
import { errors } from './errors/errors.js';
import { CHALLENGE } from './errors/to-api-error.js';
import { ErrorFilter } from './error.filter.js';
import type { DatabaseFaults } from './database/database-faults.js';
import type { ApiRequest } from './http/request.js';
import { RouteTable } from './http/route-table.js';
import type { Transport } from './http/transport.js';

const outage = Object.assign(new Error('the database is away'), { code: '57P01' });
const faults: Pick<DatabaseFaults, 'report'> = { report: () => false };
const routes = new RouteTable();
routes.add({ method: 'GET', url: '/v1/pets' });
const request = {
  id: 'r1',
  url: '/v1/pets?x',
  operation: 'listPets',
  ip: '192.0.2.7',
  raw: {},
} as unknown as ApiRequest;

describe(ErrorFilter.name, () => {
  const logger = { error: jest.fn(), warn: jest.fn(), debug: jest.fn() };
  const transport = { routes, failedStreams: { listeners: [] as unknown[] } } as Transport;
  const makeFilter = () =>
    new ErrorFilter(faults as DatabaseFaults, transport, logger as unknown as Logger);
  let filter: ErrorFilter;
  beforeEach(() => {
    jest.clearAllMocks();
    filter = makeFilter();
  });

  const answerTo = (thrown: unknown, sent = false, set: Record<string, unknown> = {}) => {
    const answer = { status: 0, headers: { ...set }, body: '' };
    const reply = {
      sent,
      raw: { headersSent: false },
      code: (status: number) => ((answer.status = status), reply),
      type: (type: string) => ((answer.headers['content-type'] = type), reply),
      headers: (headers: object) => (Object.assign(answer.headers, headers), reply),
      send: (body: string) => ((answer.body = body), reply),
      header: (name: string, value: unknown) => ((answer.headers[name] = value), reply),
      hasHeader: (name: string) => name in answer.headers,
      getHeader: (name: string) => answer.headers[name],
      getHeaders: () => answer.headers,
      removeHeader: (name: string) => Reflect.deleteProperty(answer.headers, name),
    };
    filter.catch(thrown, new ExecutionContextHost([request, reply]));
    return answer;
  };
  it('sends an error of the service with its headers', () => {
    const error = errors.not_found('Nope', { headers: { Allow: 'GET' }, cause: 'secret' });
    expect(answerTo(error)).toEqual({
      status: 404,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        Allow: 'GET',
      },
      body: '{"code":"not_found","message":"Nope","status":404}',
    });
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('responds to an outage with 503, and logs its cause', () => {
    expect(answerTo(outage)).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
    expect(logger.error).not.toHaveBeenCalled();
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(logger.warn).toHaveBeenCalledWith(
      expect.objectContaining({ operation: 'listPets', err: outage }),
      expect.any(String),
    );
  });

  it.each([
    ['an error', new TypeError('secret')],
    ['an outage of another kind', Object.assign(new Error('secret'), { code: 'ECONNREFUSED' })],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['null', null],
    ['an object', { message: 'secret', status: 404, headers: { 'X-Secret': '1' } }],
    ['an object with a status of success', { statusCode: 200, message: 'secret' }],
    ['an object with a text as its status', { statusCode: '404', message: 'secret' }],
    ['an error of another library', Object.assign(new Error('secret'), { statusCode: 404 })],
    ['an exception with a status that HTTP does not have', new HttpException('secret', 99)],
    ['an exception of an interim status', new HttpException('secret', 100)],
    ['an exception without a status', new HttpException('secret', Number.NaN)],
    ['a failure as an exception of Nest', new HttpException('secret', 500)],
    [
      'headers of a failure',
      Object.assign(new HttpException('x', 500), { headers: { secret: 1 } }),
    ],
  ])('tells the caller nothing about %s, and logs it', (_what, thrown) => {
    const { status, headers, body } = answerTo(thrown);
    expect(status).toBe(500);
    expect(JSON.stringify(headers) + body).not.toMatch(/secret/i);
    expect(JSON.parse(body)).toMatchObject({ code: 'internal_error', status: 500 });
    const [details] = logger.error.mock.calls[0] as [Record<string, unknown>];
    expect(details).toMatchObject({ operation: 'listPets' });
    if (thrown != null) expect(details['err']).toBe(thrown);
  });

  it.each([
    [400, 'invalid_request'],
    [413, 'payload_too_large'],
  ])("replaces the message of Fastify's %i", (statusCode, code) => {
    const thrown = Object.assign(new Error('secret'), { statusCode, name: 'FastifyError' });
    const wrapped = new HttpException('secret', statusCode, { cause: thrown });
    for (const each of [thrown, wrapped]) {
      expect(JSON.parse(answerTo(each).body)).toMatchObject({ code, status: statusCode });
      expect(answerTo(each).body).not.toContain('secret');
    }
  });

  it.each([
    [new NotFoundException('Gone fishing'), 404, 'not_found', 'Gone fishing'],
    [new BadRequestException(['a', 'b']), 400, 'invalid_request', 'a; b'],
    [new ConflictException('Twice'), 409, 'conflict', 'Twice'],
    [new UnprocessableEntityException(), 422, 'unprocessable_content', 'Unprocessable Entity'],
    [new ForbiddenException('Not yours'), 403, 'forbidden', 'Not yours'],
    [new HttpException({ code: 'closed', message: 'It is' }, 409), 409, 'closed', 'It is'],
    [new ConflictException('Taken', { errorCode: 'slot_taken' }), 409, 'slot_taken', 'Taken'],
    [new HttpException({ code: 7 }, 410), 410, 'gone', 'Http Exception'],
    [new ImATeapotException('Short'), 418, 'im_a_teapot', 'Short'],
    [new NotImplementedException('Soon'), 501, 'not_implemented', 'Soon'],
    [new HttpException('Too late', 499), 499, 'error', 'Too late'],
  ])('keeps the status and the message of %s', (thrown, status, code, message) => {
    expect(JSON.parse(answerTo(thrown).body)).toEqual({ code, message, status });
    expect(answerTo(thrown).status).toBe(status);
  });

  it.each([
    [{ 'WWW-Authenticate': CHALLENGE }, new UnauthorizedException('Who?')],
    [{ 'WWW-Authenticate': CHALLENGE }, new ApiError({ code: 'denied', status: 401 }, 'Who?')],
    [{ allow: 'GET' }, new MethodNotAllowedException('No')],
    [{ 'Retry-After': '1' }, new HttpException('Slowly', 429)],
    [{ 'Retry-After': '2' }, new ServiceUnavailableException('Later')],
    [{ 'Retry-After': '2' }, errors.service_unavailable('Later')],
    [{ 'Retry-After': '9' }, errors.key_banned('No', { headers: { 'Retry-After': '9' } })],
  ])('sends %j with an error whose status requires it', (headers, thrown) => {
    expect(answerTo(thrown).headers).toMatchObject(headers);
  });

  it('keeps the code and the headers of a 500, and its message in the log', () => {
    const headers = { 'X-Info': 'kept' };
    const error = new ApiError({ code: 'broken', status: 500 }, 'secret', { headers });
    expect(answerTo(error).headers).toMatchObject(headers);
    for (const thrown of [
      new ApiError({ code: 'broken', status: 500 }, 'secret'),
      new HttpException({ code: 'broken', message: 'secret' }, 500),
    ]) {
      const message = 'The server could not process this request';
      expect(JSON.parse(answerTo(thrown).body)).toEqual({ code: 'broken', message, status: 500 });
      expect(logger.error.mock.lastCall).toMatchObject([{ err: thrown }, expect.anything()]);
    }
  });

  it('removes a header that Node rejects, and keeps the others', () => {
    const kept = { 'x-kept': 'Zoë' };
    const set = { 'content-disposition': 'inline; filename="Łódź"', 'bad name': 'x', ...kept };
    const { headers } = answerTo(new TypeError('Invalid character'), false, set);
    expect(headers).toMatchObject(kept);
    expect(headers).not.toHaveProperty('content-disposition');
    expect(headers).not.toHaveProperty('bad name');
  });

  it('sends no second response', () => {
    expect(answerTo(new Error('late'), true)).toMatchObject({ status: 0, body: '' });
    expect(logger.error).toHaveBeenCalledTimes(1);
  });
});
