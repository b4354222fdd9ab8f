import { isApiTarget, pathOf, routableTarget } from './target.js';

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
  ])('takes from %p the path %p', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});

describe(isApiTarget.name, () => {
  it.each(['/v1', '/v1/', '/v1?x', '/%761/pets', 'http://h/v1/pets', '/v1/a%2Fb'])(
    'accepts %p',
    (target) => expect(isApiTarget(target)).toBe(true),
  );
  it.each(['/', '/v1pets', '/V1', '//v1', '/docs?/v1/', '*', 'http://v1/'])(
    'rejects %p',
    (target) => expect(isApiTarget(target)).toBe(false),
  );
});

describe(routableTarget.name, () => {
  it.each([
    ['/v1/pets/%zz', '/v1/'],
    ['http://h/%761/%', '/v1/'],
    ['/docs/%zz', '/-'],
    ['/v1/%70ets?%zz', '/v1/%70ets?%zz'],
    ['*', '*'],
  ])('routes %p to %p', (target, path) => {
    expect(routableTarget(target)).toBe(path);
  });
});
