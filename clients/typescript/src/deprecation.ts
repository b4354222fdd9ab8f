import { readLinks } from './link.js';

/** What an answer says of an operation that is to go. */
export interface Deprecation {
  /** `getPet`, or method and path. */
  operation: string;
  /** Since when it is deprecated (RFC 9745). */
  since: Date | undefined;
  /** When it is to be removed (RFC 8594). */
  sunset: Date | undefined;
  /** What replaces it. */
  successor: string | undefined;
  documentation: string | undefined;
}

/** undefined where the operation is not deprecated. */
export function readDeprecation(operation: string, headers: Headers): Deprecation | undefined {
  const deprecation = headers.get('deprecation');
  if (deprecation === null) return undefined;
  const sunset = Date.parse(headers.get('sunset') ?? '');
  const [, unixSeconds] = /^@(-?\d+)$/.exec(deprecation) ?? [];
  const links = readLinks(headers.get('link'));
  return {
    operation,
    since: unixSeconds === undefined ? undefined : new Date(Number(unixSeconds) * 1000),
    sunset: Number.isNaN(sunset) ? undefined : new Date(sunset),
    successor: links.get('successor-version'),
    documentation: links.get('deprecation'),
  };
}
