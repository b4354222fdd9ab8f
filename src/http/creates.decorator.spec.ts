import { createdPath } from './creates.decorator.js';

describe(createdPath.name, () => {
  it('fills in members of the response, escaped', () => {
    expect(createdPath('/notes/:id', { id: '7/8' })).toBe('/notes/7%2F8');
    expect(createdPath('/pets/:petId/notes/:id', { petId: 7n, id: 8 })).toBe('/pets/7/notes/8');
  });

  it.each([{ data: { id: 7 } }, { id: null }, undefined])(
    'fails with an error that names the missing member of %p',
    (answer) => {
      expect(() => createdPath('/notes/:id', answer)).toThrow(
        "The response of @Creates({ at: '/notes/:id' }) has no id",
      );
    },
  );
});
