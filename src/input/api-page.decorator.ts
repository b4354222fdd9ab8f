import { type ParsedUrlQuery, stringify } from 'node:querystring';
import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { type Observable, tap } from 'rxjs';
import { PublicAddress } from '../config/public-address.js';
import { appendHeader, isApiRoute, replyOf, requestOf } from '../http/request.js';
import { pathOf } from '../http/target.js';
import { Page } from './page.js';

/** Documents an operation that returns a `Page` of `type`, and adds its `Link` to the next page. */
export function ApiPage(type: Type, description = 'A page of the list.'): MethodDecorator {
  return applyDecorators(
    UseInterceptors(PageLinkInterceptor),
    ApiOkResponse({
      description,
      type: [type],
      headers: {
        Link: {
          description: 'URL of the next page (RFC 8288). Absent on the last page.',
          schema: { type: 'string' },
        },
      },
    }),
  );
}

/** Adds `Link` (RFC 8288) to a page that is not the last one. */
@Injectable()
export class PageLinkInterceptor implements NestInterceptor {
  constructor(private readonly address: PublicAddress) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      tap((page: unknown) => {
        if (page instanceof Page && page.next !== undefined) this.link(context, page);
      }),
    );
  }

  /** The query of this request, with an explicit limit and the next cursor. */
  private link(context: ExecutionContext, { size, next }: Page<unknown>): void {
    const request = requestOf(context);
    const query = stringify({ ...(request.query as ParsedUrlQuery), limit: size, cursor: next });
    const path = pathOf(request.url);
    // The base address contains the version segment.
    const url = isApiRoute(request)
      ? this.address.baseUrl + path.slice(path.indexOf('/', 1))
      : this.address.origin + path;
    appendHeader(replyOf(context), 'link', `<${url}?${query}>; rel="next"`);
  }
}
