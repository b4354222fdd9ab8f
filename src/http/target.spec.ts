import { decodableTarget, isApiTarget, isOtherForm, pathOf } from './target.js';

describe(pathOf.name, () => {
  it.each([
    ['/v1/pets', '/v1/pets'],
    ['/v1/pets?limit=1#x', '/v1/pets'],
    ['/v1/pets#x?y', '/v1/pets'],
    ['http://evil/v1/pets?x=http://a/b', '/v1/pets'],
    ['HTTPS://evil:8/v1', '/v1'],
    ['http://evil?x', ''],
    ['/a?b=http://c/d', '/a'],
    ['*', '*'],
  ])('of %p is %p', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});

describe(isOtherForm.name, () => {
  it.each(['*', 'http://h/v1/pets', 'HTTPS://h'])('is true of %p', (target) =>
    expect(isOtherForm(target)).toBe(true),
  );
  it.each(['/v1/pets', '*v1/pets', 'v1/pets', 'ftp://h/v1/pets', 'ws://h/v1/pets', ''])(
    'is false of %p',
    (target) => expect(isOtherForm(target)).toBe(false),
  );
});

describe(isApiTarget.name, () => {
  it.each(['/v1', '/v1/', '/v1?x', '/%761/pets', 'http://h/v1/pets', '/v1/a%2Fb'])(
    'is true of %p',
    (target) => expect(isApiTarget(target)).toBe(true),
  );
  it.each(['/', '/v1pets', '/V1', '//v1', '/docs?/v1/', '*', 'http://v1/'])(
    'is false of %p',
    (target) => expect(isApiTarget(target)).toBe(false),
  );
});

describe(decodableTarget.name, () => {
  it.each(['/v1/pets', '/v1/%70ets?x=%zz', '/%761/a%2Fb', '/v1/pets#%zz', '*'])(
    'leaves %p as it is',
    (target) => {
      expect(decodableTarget(target)).toBe(target);
    },
  );

  it.each([
    ['/v1/pets/%zz', '/v1/pets/%25zz'],
    ['/%761/%', '/%761/%25'],
    ['/v1/%e0%a4%a?q=%zz', '/v1/%25e0%25a4%25a?q=%zz'],
    ['http://h/v1/%c3%28', 'http://h/v1/%25c3%2528'],
  ])('takes literally what cannot be decoded of %p', (target, decodable) => {
    expect(decodableTarget(target)).toBe(decodable);
  });
});
