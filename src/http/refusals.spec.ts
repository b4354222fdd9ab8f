import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { answerBroken } from './refusals.js';
import type { ApiReply } from './request-context.js';

describe(answerBroken.name, () => {
  it('keeps the first of many packets of nonsense behind an answer that is still to come', () => {
    const raw = Object.assign(new EventEmitter(), { writableFinished: false });
    const reply = { raw, sent: false, request: { raw: { complete: true } } } as unknown as ApiReply;
    const written: string[] = [];
    const socket = {
      writable: true,
      end: (text: string) => written.push(text),
    } as unknown as Socket;
    const answered = jest.fn();
    for (let packet = 0; packet < 1_000; packet++) {
      const error = Object.assign(new Error(), { code: 'HPE_INVALID_METHOD' });
      answerBroken(error, socket, reply, answered);
    }
    expect(raw.listenerCount('finish')).toBe(1);
    raw.emit('finish');
    expect(written).toHaveLength(1);
    expect(answered).toHaveBeenCalledTimes(1);
  });
});
