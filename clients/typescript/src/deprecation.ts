import { readLinks } from './link.js';

/** The deprecation headers of an operation. */
export interface Deprecation {
  /** `getPet`, or method and path. */
  operation: string;
  /** Start of the deprecation (RFC 9745). */
  since: Date | undefined;
  /** Removal date (RFC 8594). */
  sunset: Date | undefined;
  /** URL of the replacement. */
  successor: string | undefined;
  /** URL of the documentation. */
  documentation: string | undefined;
}

/** @returns undefined if the operation is not deprecated. */
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
