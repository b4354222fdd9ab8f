import { prettyStream, sentence } from './pretty.js';

describe(prettyStream.name, () => {
  it('passes each line on at once, to where what waits for a reader is bounded', async () => {
    const lines = { write: jest.fn(), flush: jest.fn() };
    const stream = await prettyStream(lines);
    stream.write('{"level":"info","time":1,"msg":"Stopped"}\n');
    expect(lines.write.mock.calls).toEqual([[expect.stringMatching(/INFO.*: .*Stopped.*\n$/)]]);
    expect(lines.flush).toHaveBeenCalledTimes(1);
  });
});

describe(sentence.name, () => {
  const base = { level: 'info', time: 1, service: 's', version: '1' };
  const request = { ...base, msg: 'request', method: 'GET', durationMs: 1.5 };

  it.each([
    [
      { ...request, status: 200, operation: 'listPets', keyId: 'key_1' },
      'GET 200 in 1.5 ms (listPets, key_1)',
    ],
    [
      {
        ...request,
        status: 404,
        path: '/v1/pets/:petId',
        code: 'pet_not_found',
        operation: 'getPet',
        address: '::1',
      },
      'GET /v1/pets/:petId 404 in 1.5 ms pet_not_found (getPet, ::1)',
    ],
    [
      { ...request, status: 200, operation: 'x', requestId: 'abc', traceId: 'def' },
      'GET 200 in 1.5 ms (x, request abc, trace def)',
    ],
    [{ ...base, msg: 'Stopped' }, 'Stopped'],
    [{ ...base, msg: 'Listening', origin: 'http://x' }, 'Listening (origin=http://x)'],
    [
      { ...base, event: 'audit', msg: 'Audit: cli:eve did x', audit: { id: 1 } },
      'Audit: cli:eve did x',
    ],
    [
      { ...base, msg: 'Failed', err: { stack: 'Error: no\n    at x' } },
      'Failed\n    Error: no\n        at x',
    ],
  ])('tells %p in words', (entry, text) => {
    expect(sentence(entry)).toBe(text);
  });
});
