import type { Answer, Ask } from '../rate-limits/stores/counter-channel.js';

/** What a worker tells the primary process. */
export type FromWorker =
  | { kind: 'listening'; origin: string; baseUrl: string; docsUrl: string }
  | { kind: 'ask'; asks: readonly Ask[] }
  | { kind: 'alive' }
  | { kind: 'metrics'; id: number; metrics: object[] };

/** What the primary process tells a worker. Answers come in the order of what was asked. */
export type ToWorker =
  | { kind: 'answer'; answers: readonly Answer[] }
  | { kind: 'tell metrics'; id: number }
  | { kind: 'are you alive' };
