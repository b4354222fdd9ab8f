/** The router decodes these characters if they are escaped. */
const API_PATH = /^\/(?:v|%76)(?:1|%31)(?:\/|$)/;

/** The path of a request target; of an absolute-form target, the part after the authority. */
export function pathOf(target: string): string {
  return /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)![1]!;
}

export function isApiTarget(target: string): boolean {
  return API_PATH.test(pathOf(target));
}
