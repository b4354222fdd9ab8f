import { lineBase, requestLine } from './access-log.js';

const record = {
  requestId: 'a-1',
  keyId: 'key_1',
  operation: 'listPets',
  method: 'GET',
  status: 200,
  durationMs: 1.25,
};

const base = lineBase({ service: 's', version: '1' });

describe(requestLine.name, () => {
  it('is one line of JSON that tells all that is known of a request', () => {
    const line = requestLine(record, 1_700_000_000_000, base);
    expect(line.endsWith('}\n')).toBe(true);
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      time: 1_700_000_000_000,
      service: 's',
      version: '1',
      ...record,
      msg: 'request',
    });
  });

  it('has no key where nobody knows whose the request is', () => {
    const line = JSON.parse(requestLine({ ...record, keyId: undefined }, 0, base)) as object;
    expect(line).not.toHaveProperty('keyId');
  });

  it('says of a refused one why, and who asked for what', () => {
    const refused = { ...record, path: '/v1/pets/:petId', code: 'a "guest"', address: '192.0.2.1' };
    expect(JSON.parse(requestLine(refused, 0, base))).toMatchObject(refused);
  });

  it('survives any name that a handler can have', () => {
    const operation = 'say "hi"\n';
    expect(JSON.parse(requestLine({ ...record, operation }, 0, base))).toMatchObject({ operation });
  });
});
