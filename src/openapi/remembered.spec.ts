import { Remembered } from './remembered.js';

describe(Remembered.name, () => {
  it('makes a value once, however many ask for it meanwhile and later', async () => {
    const remembered = new Remembered<string, string>();
    const make = jest.fn(() => Promise.resolve('page'));
    const [first, second] = [remembered.get('a', make), remembered.get('a', make)];
    expect(await Promise.all([first, second, remembered.get('a', make)])).toEqual(
      Array(3).fill('page'),
    );
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('keeps what belongs to different keys apart', async () => {
    const remembered = new Remembered<string, string>();
    await remembered.get('a', () => Promise.resolve('one'));
    expect(await remembered.get('b', () => Promise.resolve('two'))).toBe('two');
  });

  it('makes again what could not be made', async () => {
    const remembered = new Remembered<string, string>();
    const failing = () => Promise.reject(new Error('EMFILE'));
    const both = [remembered.get('a', failing), remembered.get('a', failing)];
    for (const { status } of await Promise.allSettled(both)) expect(status).toBe('rejected');
    expect(await remembered.get('a', () => Promise.resolve('page'))).toBe('page');
  });
});
