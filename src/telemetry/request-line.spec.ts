import { requestLine } from './request-line.js';

const record = {
  requestId: 'a-1',
  keyId: 'key_1',
  operation: 'listPets',
  method: 'GET',
  status: 200,
  durationMs: 1.25,
};

describe(requestLine.name, () => {
  it('is one line of JSON that tells all that is known of a request', () => {
    const line = requestLine(record, 1_700_000_000_000);
    expect(line.endsWith('}\n')).toBe(true);
    expect(JSON.parse(line)).toEqual({
      level: 30,
      time: 1_700_000_000_000,
      ...record,
      msg: 'request',
    });
  });

  it('has no key where nobody knows whose the request is', () => {
    const line = JSON.parse(requestLine({ ...record, keyId: undefined }, 0)) as object;
    expect(line).not.toHaveProperty('keyId');
  });

  it('survives any name that a handler can have', () => {
    const operation = 'say "hi"\n';
    expect(JSON.parse(requestLine({ ...record, operation }, 0))).toMatchObject({ operation });
  });
});
