import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import {
  isJsonAnswer,
  isPagedAnswer,
  type JsonAnswer,
  nextPageUrl,
  type PagedAnswer,
} from './answers.js';
import { stringifyJson } from './json-text.js';
import type { PublicAddress } from './public-address.js';
import { type ApiReply, type ApiRequest, appendHeader } from './request-context.js';
import { isApiTarget, pathOf } from './target.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** What the adapter asks of those who judge. */
export interface Judges {
  answerUnrouted(request: ApiRequest, reply: ApiReply): Promise<void>;
  /** False where the caller is refused, and answered. */
  admitsUnguarded(request: ApiRequest, reply: ApiReply): Promise<boolean>;
}
type ErrorHandler = Parameters<FastifyInstance['setErrorHandler']>[0];

/** Nest on our transport. It sends what a controller returns: JSON text as it is, objects int64-exact. */
export class PetStoreAdapter extends FastifyAdapter {
  constructor(
    transport: FastifyInstance,
    private readonly judges: Judges,
    private readonly address: () => PublicAddress,
  ) {
    super(transport);
    transport.setReplySerializer((payload) => stringifyJson(payload));
  }

  /** Nest's own handler would answer before anyone has asked who the caller is. */
  override setNotFoundHandler(): FastifyInstance {
    const { judges } = this;
    return this.instance.setNotFoundHandler((request, reply) =>
      judges.answerUnrouted(request, reply),
    );
  }

  /** What a middleware or a hook throws comes before the guards: its caller is judged all the same. */
  override setErrorHandler(handler: ErrorHandler): FastifyInstance {
    const { judges } = this;
    return this.instance.setErrorHandler(async function (error, request, reply) {
      const isAdmitted = await judges.admitsUnguarded(request, reply);
      return isAdmitted ? (handler.call(this, error, request, reply) as unknown) : reply;
    });
  }

  override reply(response: ApiReply, body: unknown, status?: number): ApiReply {
    if (isPagedAnswer(body)) {
      this.linkTo(response, body);
      return super.reply(response, body.items, status);
    }
    if (!isJsonAnswer(body)) {
      if (isPlain(body)) this.tellOfMembers(response, body);
      return super.reply(response, body, status);
    }
    if (status !== undefined) response.code(status);
    response.header('content-type', JSON_TYPE);
    tell(response, body);
    return response.send(body.text);
  }

  /** An interceptor of a guest has put an answer into an envelope: its headers are still those of all of it. */
  private tellOfMembers(response: ApiReply, envelope: object): void {
    for (const member of Object.values(envelope)) {
      if (isPagedAnswer(member)) this.linkTo(response, member);
      else if (isJsonAnswer(member)) tell(response, member);
    }
  }

  private linkTo(response: ApiReply, page: PagedAnswer): void {
    if (page.next === undefined) return;
    const { raw, query } = response.request;
    const path = pathOf(raw.url!);
    const address = this.address();
    // The version segment is part of the base address.
    const url = isApiTarget(path)
      ? address.baseUrl + path.slice(path.indexOf('/', 1))
      : address.origin + path;
    const next = `<${nextPageUrl(url, query as Record<string, unknown>, page)}>; rel="next"`;
    appendHeader(response, 'link', next);
  }
}

function tell(response: ApiReply, { headers }: JsonAnswer): void {
  for (const [name, value] of headers) response.header(name, value);
}

function isPlain(body: unknown): body is object {
  return (
    typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype
  );
}
