import { IsNumberString } from 'class-validator';
import { ApiError } from '../errors/api-error.js';
import { InputPipe } from './input.pipe.js';

class NoteParams {
  @IsNumberString()
  noteId!: string;
}

describe(InputPipe.name, () => {
  const ofPath = (params: Record<string, string>) =>
    new InputPipe().transform(params, { type: 'param', metatype: NoteParams });

  it('takes of a path what is the DTO’s, and leaves the rest to other parameters', () => {
    const made = ofPath({ petId: '42', noteId: '7' });
    expect(made).toBeInstanceOf(NoteParams);
    expect(made).toEqual({ noteId: '7' });
  });

  it('refuses of a path what breaks a rule', () => {
    expect(() => ofPath({ petId: '42', noteId: 'x' })).toThrow(ApiError);
  });
});
