import { Injectable } from '@nestjs/common';
import { type Answer, type Ask, toAnswer } from './counter-channel.js';
import { ToldShares } from '../told-shares.js';
import { MemoryStore } from './memory.store.js';

/** Counts for the workers: the other end of `primary.store.ts`. */
@Injectable()
export class PrimaryCounter {
  private readonly told = new ToldShares();

  constructor(private readonly store: MemoryStore) {}

  /** As many answers, in the order of what was asked. */
  answer(asks: readonly Ask[]): Answer[] {
    return asks.map((ask) => this.answerOne(ask));
  }

  private answerOne(ask: Ask): Answer {
    switch (ask[0]) {
      case 'take': {
        const [, subject, perMinute, perDay, further] = ask;
        return toAnswer(this.store.take(subject, { perMinute, perDay }, further));
      }
      case 'peek':
        return toAnswer(this.store.peek(ask[1]));
      case 'unban':
        this.store.unban(ask[1]);
        return null;
      case 'told': {
        const [, name, at, percent] = ask;
        return this.told.raise(name, at, percent);
      }
    }
  }
}
