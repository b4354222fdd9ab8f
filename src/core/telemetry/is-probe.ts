/** Whether a request is a health check, which supervisors send every few seconds. */
export function isProbe(url: string): boolean {
  return url.startsWith('/health/');
}
