import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
  StreamableFile,
} from '@nestjs/common';
import {
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import {
  AcceptsBody,
  ApiErrors,
  ApiPage,
  BodyLimit,
  Creates,
  Idempotent,
  Int64Pipe,
  type Page,
  PageQuery,
  RequireScope,
} from 'pet-store-service';
import { lists, rangeOf } from './byte-range.js';
import { PhotoBody } from './photo.dto.js';
import { photoErrors } from './photo.errors.js';
import { PhotosService } from './photos.service.js';

const TYPES = ['image/png', 'image/jpeg'] as const;
const CONTENT = { type: 'string', format: 'binary' } as const;
const MAX_BYTES = 4 * 1_048_576;

/** The response, as far as a handler sets it. */
interface Reply {
  header(name: string, value: string): Reply;
  code(status: number): Reply;
}

@ApiTags('photos')
@Controller('pets/:petId/photos')
export class PhotosController {
  constructor(private readonly photos: PhotosService) {}

  @Post()
  @RequireScope('photos:write')
  @AcceptsBody(...TYPES)
  @BodyLimit({ bytes: MAX_BYTES })
  @Idempotent()
  @Creates(PhotoBody, { at: '/pets/:petId/photos/:id', description: 'The photo was added.' })
  @ApiOperation({ summary: 'Add a photo of a pet' })
  @ApiErrors('pet_not_found', photoErrors.too_many_photos, photoErrors.not_a_photo)
  addPhoto(@Param('petId', Int64Pipe) petId: bigint, @Body() content: Buffer): Promise<PhotoBody> {
    return this.photos.add(petId, content);
  }

  @Get()
  @RequireScope('photos:read')
  @ApiOperation({ summary: 'List the photos of a pet' })
  @ApiPage(PhotoBody)
  @ApiErrors('pet_not_found')
  listPhotos(
    @Param('petId', Int64Pipe) petId: bigint,
    @Query() query: PageQuery,
  ): Promise<Page<PhotoBody>> {
    return this.photos.list(petId, query);
  }

  @Get(':photoId')
  @RequireScope('photos:read')
  @ApiOperation({ summary: 'Get a photo, or a part of it' })
  @ApiProduces(...TYPES)
  @ApiHeader({ name: 'Range', required: false, example: 'bytes=0-1023' })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'The `ETag` of the photo.' })
  @ApiOkResponse({ description: 'The photo.', schema: CONTENT })
  @ApiResponse({ status: 206, description: 'The part of the photo.', schema: CONTENT })
  @ApiResponse({ status: 304, description: 'The photo is the one that the client has.' })
  @ApiErrors(photoErrors.photo_not_found, photoErrors.range_not_satisfiable)
  async getPhoto(
    @Param('petId', Int64Pipe) petId: bigint,
    @Param('photoId', Int64Pipe) id: bigint,
    @Headers() headers: Record<string, string | undefined>,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<StreamableFile | undefined> {
    const photo = await this.photos.get(petId, id);
    const tag = `"${photo.digest}"`;
    // The service sets it for a 200 alone.
    reply.header('Cache-Control', 'private, no-cache');
    reply.header('ETag', tag).header('Accept-Ranges', 'bytes');
    if (lists(headers['if-none-match'], tag)) {
      reply.code(304);
      return undefined;
    }
    const isSame = (headers['if-range'] ?? tag) === tag;
    const part = isSame ? rangeOf(headers['range'], photo.bytes) : undefined;
    const { start, end } = part ?? { start: 0, end: photo.bytes - 1 };
    const content = await this.photos.read(photo, { start, end });
    if (part) reply.code(206).header('Content-Range', `bytes ${start}-${end}/${photo.bytes}`);
    return new StreamableFile(content, { type: photo.type, length: end - start + 1 });
  }

  @Delete(':photoId')
  @HttpCode(204)
  @RequireScope('photos:write')
  @ApiOperation({ summary: 'Remove a photo' })
  @ApiNoContentResponse({ description: 'The photo was removed.' })
  @ApiErrors(photoErrors.photo_not_found)
  removePhoto(
    @Param('petId', Int64Pipe) petId: bigint,
    @Param('photoId', Int64Pipe) id: bigint,
  ): Promise<void> {
    return this.photos.remove(petId, id);
  }
}
