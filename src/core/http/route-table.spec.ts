import { METHODS } from 'node:http';
import { RouteTable } from './route-table.js';

describe(RouteTable.name, () => {
  const routes = new RouteTable();
  routes.add({ method: ['GET'], url: '/v1/pets' });
  routes.add({ method: 'GET', url: '/' });
  routes.add({ method: 'HEAD', url: '/v1/pets' });
  routes.add({ method: 'POST', url: '/v1/pets' });
  routes.add({ method: ['HEAD', 'GET'], url: '/v1/pets/:petId' });
  // As Nest does for a controller that handles everything.
  const every = METHODS.filter((method) => method !== 'CONNECT');
  routes.add({ method: every, url: '/v1/*' });
  routes.add({ method: every, url: '/v1' });

  it('knows the methods of a path, sorted, each once', () => {
    routes.add({ method: 'GET', url: '/v1/pets' });
    expect(routes.methodsOf('/v1/pets')).toEqual(['GET', 'HEAD', 'POST']);
    expect(routes.methodsOf('/v1/pets/1')).toEqual(['GET', 'HEAD']);
  });

  it.each(['/v1/nope', '/v1/pets/', '/v1/pets/1/2', '/v1//pets', '/v1/PETS', '/v1', '', '*', '//'])(
    'has no resource at %p, so that a wrong method there is no 405',
    (path) => {
      expect(routes.methodsOf(path)).toEqual([]);
    },
  );

  it('knows every method of a path that is declared with @All()', () => {
    routes.add({ method: every, url: '/v1/proxy' });
    expect(routes.methodsOf('/v1/proxy')).toEqual([...every].sort());
  });

  it('decodes escapes as the router of requests does', () => {
    expect(routes.methodsOf('/v1/%70ets')).toEqual(['GET', 'HEAD', 'POST']);
    expect(routes.methodsOf('/v1/pets/a%2Fb')).toEqual(['GET', 'HEAD']);
  });

  it('accepts a parameter of any length', () => {
    expect(routes.methodsOf(`/v1/pets/${'9'.repeat(7_900)}`)).toEqual(['GET', 'HEAD']);
  });
});
