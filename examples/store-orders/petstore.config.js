import { defineConfig } from 'pet-store-service';
import { storeOrders } from 'store-orders';

export default defineConfig({ extensions: [storeOrders] });
