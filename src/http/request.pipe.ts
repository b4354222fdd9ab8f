import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { judgeBodyHeaders, parseObject, readBody } from './body-reader.js';
import type { UnreadBody } from './request-context.js';
import { validated } from './validation.js';

/**
 * Turns what was sent into what the controller declares: the unread stream of a body into its DTO, the
 * query into its DTO. It runs after every guard, so that no byte of a body is read for a caller who has
 * no key or no quota left.
 */
@Injectable()
export class RequestPipe implements PipeTransform {
  private readonly queries = new WeakMap<object, Map<Type, object>>();

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type === 'body') return this.body(value as UnreadBody, metatype as Type<object>);
    if (type === 'query')
      return this.query(value as Record<string, unknown>, metatype as Type<object>);
    return value;
  }

  private async body(stream: UnreadBody, type: Type<object>): Promise<object> {
    judgeBodyHeaders(stream);
    const bytes = await readBody(stream);
    stream.bytes = bytes;
    return validated(type, parseObject(bytes), 'member');
  }

  /** Equal query strings are parsed to one frozen object, so that each is validated only once. */
  private query(parsed: Record<string, unknown>, type: Type<object>): object {
    const known = this.queries.get(parsed)?.get(type);
    if (known !== undefined) return known;
    const query = Object.freeze(validated(type, parsed, 'query parameter'));
    const byType = this.queries.get(parsed) ?? new Map<Type, object>();
    this.queries.set(parsed, byType.set(type, query));
    return query;
  }
}
