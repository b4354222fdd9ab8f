import 'reflect-metadata';
import { startPetStore } from '../../src/index.js';
import { storeOrders } from './orders.module.js';

const store = await startPetStore({ extensions: [storeOrders] });
process.once('SIGTERM', () => void store.close());
process.once('SIGINT', () => void store.close());
