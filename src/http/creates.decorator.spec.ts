import type { ExecutionContext, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { lastValueFrom, of } from 'rxjs';
import { loadConfig } from '../config/config.js';
import { Creates, LocationInterceptor } from './creates.decorator.js';
import { PublicAddress } from './public-address.js';
import { Public } from './public.decorator.js';

class NotesController {
  @Creates(Object, { at: '/notes/:id' })
  addNote(): void {}
}

@Public()
class OpenNotesController extends NotesController {}

describe(LocationInterceptor.name, () => {
  const address = new PublicAddress(loadConfig({ PUBLIC_BASE_URL: 'https://zoo.example/api/v1' }));
  const locationOf = async (controller: Type, answer: unknown): Promise<string | undefined> => {
    let location: string | undefined;
    const reply = { header: (_name: string, value: string) => (location = value) };
    const context = {
      getClass: () => controller,
      getHandler: () => NotesController.prototype.addNote,
      getArgByIndex: () => reply,
    } as unknown as ExecutionContext;
    const next = { handle: () => of(answer) };
    await lastValueFrom(new LocationInterceptor(address, new Reflector()).intercept(context, next));
    return location;
  };

  it('sets the address of the created resource, also outside /v1', async () => {
    const answer = { id: '7/8' };
    expect(await locationOf(NotesController, answer)).toBe(
      'https://zoo.example/api/v1/notes/7%2F8',
    );
    expect(await locationOf(OpenNotesController, answer)).toBe('https://zoo.example/notes/7%2F8');
  });

  it.each([{ data: { id: 7 } }, { id: null }, undefined])(
    'fails with an error that names the operation if %p has no such member',
    async (answer) => {
      await expect(locationOf(NotesController, answer)).rejects.toThrow(
        "NotesController.addNote: the response of @Creates({ at: '/notes/:id' }) has no id",
      );
    },
  );
});
