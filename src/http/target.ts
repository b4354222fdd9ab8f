const AUTHORITY = /^https?:\/\/[^/?]*/i;
const PATH_END = /[?#]/;
const API_PATH = /^\/v1(?:\/|$)/;

/** The path of a request target as the router reads it; of an absolute-form target, the part after the authority. */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const end = local.search(PATH_END);
  return end === -1 ? local : local.slice(0, end);
}

/** Whether a target is under `/v1`, with escapes of ASCII characters decoded as the router decodes them. */
export function isApiTarget(target: string): boolean {
  const path = pathOf(target).replace(/%[2-7][0-9a-f]/gi, (escape) =>
    String.fromCharCode(parseInt(escape.slice(1), 16)),
  );
  return API_PATH.test(path);
}
