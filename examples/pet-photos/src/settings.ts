import { IsInt, IsString, Max, Min, MinLength } from 'class-validator';

export class PhotoSettings {
  /** A folder that all nodes share. It is created if it does not exist. */
  @IsString()
  @MinLength(1)
  photosFolder = 'photos';

  @IsInt()
  @Min(1)
  @Max(1_000)
  photosPerPet = 10;
}
