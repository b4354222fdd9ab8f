/** The range of the format `int64` (OpenAPI), which ends beyond what a Number holds exactly. */
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
