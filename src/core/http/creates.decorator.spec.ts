import { createdPath } from './creates.decorator.js';

describe(createdPath.name, () => {
  it('fills in members of the response, escaped', () => {
    expect(createdPath(['', 'notes', ':id'], { id: '7/8' })).toBe('/notes/7%2F8');
    expect(createdPath(['', 'pets', ':petId', 'notes', ':id'], { petId: 7n, id: 8 })).toBe(
      '/pets/7/notes/8',
    );
  });

  it.each([{ data: { id: 7 } }, { id: null }, undefined])('has none for %p', (answer) => {
    expect(createdPath(['', 'notes', ':id'], answer)).toBeUndefined();
  });
});
