import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { defineExtension } from 'pet-store-service';
import { CreatePetPhotos1764892800000 } from './create-pet-photos.migration.js';
import { Photo } from './photo.entity.js';
import { photoErrors } from './photo.errors.js';
import { PhotosController } from './photos.controller.js';
import { PhotosService } from './photos.service.js';
import { PhotoSettings } from './settings.js';

@Module({
  imports: [TypeOrmModule.forFeature([Photo])],
  controllers: [PhotosController],
  providers: [PhotosService],
})
class PhotosModule {}

export const petPhotos = defineExtension({
  name: 'pet-photos',
  compatibility: '^1.0.0',
  module: PhotosModule,
  migrations: [CreatePetPhotos1764892800000],
  scopes: {
    'photos:read': 'See the photos of pets.',
    'photos:write': 'Add and remove photos of pets.',
  },
  tags: { photos: 'Photos of pets.' },
  errors: photoErrors,
  settings: PhotoSettings,
  // A script of another origin may ask for a part of a photo.
  requestHeaders: ['Range', 'If-Range'],
  from: import.meta.url,
});
