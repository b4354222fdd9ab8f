const AUTHORITY = /^https?:\/\/[^/?]*/i;
const PATH_END = /[?#]/;

/** The path of a request target as the router reads it: of an absolute-form one, what follows the authority. */
export function pathOf(target: string): string {
  // What nearly everyone sends needs no search for an authority.
  const local = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const end = local.search(PATH_END);
  return end === -1 ? local : local.slice(0, end);
}

/** Whether a target that is no path is of a form that a request may have (RFC 9112 section 3.2); the router reads others, too. */
export function isOtherForm(target: string): boolean {
  return target === '*' || AUTHORITY.test(target);
}

/** The path with the escapes of ASCII undone, as the router does for `/%761/`. */
export function plainPathOf(target: string): string {
  return pathOf(target).replace(/%[2-7][0-9a-f]/gi, (escape) =>
    String.fromCharCode(parseInt(escape.slice(1), 16)),
  );
}

/** Whether a target is below `/v1`. */
export function isApiTarget(target: string): boolean {
  return /^\/v1(?:\/|$)/.test(plainPathOf(target));
}

/**
 * The target with what no router can decode taken literally, so that it is routed like any other, and is
 * refused by whoever judges the message. A target that can be decoded stays as it is.
 */
export function decodableTarget(target: string): string {
  const end = target.search(PATH_END);
  const path = end === -1 ? target : target.slice(0, end);
  if (isDecodable(path)) return target;
  const segments = path
    .split('/')
    .map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')));
  return segments.join('/') + target.slice(path.length);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
