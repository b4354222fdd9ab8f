export const CHECKS: { name: string; level: string; cost: Record<string, number> }[];
