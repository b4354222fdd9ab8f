/** `v` and `1` may be percent-encoded: the router decodes them. */
const API_PATH = /^\/(?:v|%76)(?:1|%31)(?:\/|$)/;

/** The path of a request target; of an absolute-form target, the part after the authority. */
export function pathOf(target: string): string {
  return /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)![1]!;
}

export function isApiTarget(target: string): boolean {
  return API_PATH.test(pathOf(target));
}

/**
 * The target, or for one that the router cannot decode, a path without an operation: the guards run
 * there.
 */
export function routableTarget(target: string): string {
  try {
    decodeURI(pathOf(target));
    return target;
  } catch {
    return isApiTarget(target) ? '/v1/' : '/-';
  }
}
