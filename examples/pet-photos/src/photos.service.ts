import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  afterCommit,
  ApiError,
  Clock,
  Database,
  errors,
  type Page,
  type PageQuery,
  Pets,
  type Row,
  TableGateway,
} from 'pet-store-service';
import { DataSource } from 'typeorm';
import type { ByteRange } from './byte-range.js';
import { PhotoBody } from './photo.dto.js';
import { Photo } from './photo.entity.js';
import { photoErrors } from './photo.errors.js';
import { type Picture, pictureOf } from './picture.js';
import { PhotoSettings } from './settings.js';

/** A picture of more pixels can exhaust the memory of a program that shows it. */
const MAX_SIDE = 8_192;

/** Photos: a row for each, and its content in a file of the folder. */
@Injectable()
export class PhotosService implements OnModuleInit {
  private readonly photos: TableGateway<Photo>;

  constructor(
    database: Database,
    private readonly dataSource: DataSource,
    private readonly pets: Pets,
    private readonly clock: Clock,
    private readonly settings: PhotoSettings,
  ) {
    this.photos = new TableGateway(Photo, database);
  }

  async onModuleInit(): Promise<void> {
    await mkdir(this.settings.photosFolder, { recursive: true });
  }

  /**
   * The file is complete before its row is visible. It is removed if the row is rejected, and stays
   * after any other error: a commit whose response is lost has stored the row.
   */
  async add(petId: bigint, content: Buffer): Promise<PhotoBody> {
    const picture = checkedPicture(content);
    const file = randomUUID();
    try {
      await writeFile(this.pathOf(file), content, { flag: 'wx', flush: true });
      const digest = createHash('sha256').update(content).digest('base64url');
      const bytes = content.length;
      return PhotoBody.of(await this.insert({ petId, file, digest, bytes, ...picture }));
    } catch (error) {
      if (error instanceof ApiError) await rm(this.pathOf(file), { force: true });
      throw error;
    }
  }

  async list(petId: bigint, query: PageQuery): Promise<Page<PhotoBody>> {
    if ((await this.pets.find(petId)) === undefined) throw noSuchPet(petId);
    return (await this.photos.page(query, { petId })).map((photo) => PhotoBody.of(photo));
  }

  async get(petId: bigint, id: bigint): Promise<Row<Photo>> {
    const photo = await this.photos.find(id);
    if (photo?.petId !== petId) throw noSuchPhoto(petId, id);
    return photo;
  }

  async read({ petId, id, file }: Row<Photo>, range: ByteRange): Promise<Readable> {
    try {
      return (await open(this.pathOf(file))).createReadStream(range);
    } catch (error) {
      // Another request has removed the photo since its row was read.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw noSuchPhoto(petId, id);
      throw error;
    }
  }

  async remove(petId: bigint, id: bigint): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const { file } = await this.get(petId, id);
      const { affected } = await manager.delete(Photo, { id });
      // Another request has removed the photo since its row was read.
      if (affected === 0) throw noSuchPhoto(petId, id);
      afterCommit(manager, () => rm(this.pathOf(file), { force: true }));
    });
  }

  private insert(values: Omit<Row<Photo>, 'id' | 'addedAt'>): Promise<Row<Photo>> {
    const { petId } = values;
    const { photosPerPet } = this.settings;
    return this.dataSource.transaction(async (manager) => {
      // The lock on the pet lets one request at a time count its photos.
      if ((await this.pets.lock(petId, manager)) === undefined) throw noSuchPet(petId);
      if ((await manager.countBy(Photo, { petId })) >= photosPerPet) {
        throw photoErrors.too_many_photos(`The pet ${petId} has ${photosPerPet} photos`);
      }
      const addedAt = new Date(this.clock.now()).toISOString();
      return this.photos.insert({ ...values, addedAt });
    });
  }

  private pathOf(file: string): string {
    return join(this.settings.photosFolder, file);
  }
}

function checkedPicture(content: Buffer): Picture {
  const picture = pictureOf(content);
  if (picture === undefined) throw photoErrors.not_a_photo('The body is neither PNG nor JPEG');
  const { width, height } = picture;
  if ([width, height].some((side) => side < 1 || side > MAX_SIDE)) {
    const limits = `width and height must be between 1 and ${MAX_SIDE}`;
    throw photoErrors.not_a_photo(`The picture has ${width} x ${height} pixels; ${limits}`);
  }
  return picture;
}

function noSuchPhoto(petId: bigint, id: bigint) {
  return photoErrors.photo_not_found(`The pet ${petId} has no photo ${id}`);
}

function noSuchPet(id: bigint) {
  return errors.pet_not_found(`There is no pet ${id}`);
}
