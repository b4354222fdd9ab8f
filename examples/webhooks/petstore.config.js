import { defineConfig } from 'pet-store-service';
import { storeWebhooks } from 'store-webhooks';

export default defineConfig({ extensions: [storeWebhooks] });
