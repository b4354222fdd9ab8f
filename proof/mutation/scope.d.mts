export const ROOMS: readonly string[];
export const TEST_FILES: readonly string[];
