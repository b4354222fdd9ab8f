import { defineConfig } from 'pet-store-service';
import { petPhotos } from 'pet-photos';

export default defineConfig({ extensions: [petPhotos] });
