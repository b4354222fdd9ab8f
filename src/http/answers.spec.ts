import { type ClassTransformOptions, Exclude, Expose, instanceToPlain } from 'class-transformer';
import { isJsonAnswer, isPagedAnswer, JsonAnswer, PagedAnswer } from './answers.js';

class Toy {
  @Expose()
  id = 1;

  @Exclude()
  price = 7;
}
class Toys extends PagedAnswer {}

describe.each<ClassTransformOptions>([
  {},
  { strategy: 'excludeAll' },
  { excludeExtraneousValues: true },
  { strategy: 'excludeAll', excludeExtraneousValues: true, groups: ['keeper'], version: 2 },
])('of a copy that is made with %p', (options) => {
  it('text is sent as it is, with its headers', () => {
    const answer = new JsonAnswer('[1]', [['location', '/toys/1']]);
    const copy = instanceToPlain(answer, options);
    expect(isJsonAnswer(copy)).toBe(true);
    expect(copy).toEqual({ ...answer });
  });

  it('a page has its items, as their class says, and its next one', () => {
    const copy = instanceToPlain(new Toys([new Toy()], { toString: () => 'abc' }), options);
    expect(isPagedAnswer(copy)).toBe(true);
    expect(copy).toMatchObject({ items: [{ id: 1 }], next: 'abc' });
    expect((copy as unknown as Toys).items[0]).not.toHaveProperty('price');
    expect(instanceToPlain(new Toys([], undefined), options)['next']).toBeUndefined();
  });
});
