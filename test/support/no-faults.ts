import type { DatabaseFaults } from '../../src/core/database/database-faults.js';

/** Knows no fault that an operator has to fix. */
export const NO_FAULTS = { report: () => false } as unknown as DatabaseFaults;
