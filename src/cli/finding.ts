/** What a check of `petstore doctor` found. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** What to do about it; null where there is nothing to be done. */
  cure: string | null;
}

export const ok = (check: string, detail: string): Finding => ({
  check,
  status: 'ok',
  detail,
  cure: null,
});
export const warning = (check: string, detail: string, cure: string): Finding => ({
  check,
  status: 'warning',
  detail,
  cure,
});
export const failed = (check: string, detail: string, cure: string): Finding => ({
  check,
  status: 'failed',
  detail,
  cure,
});
