import { parseArgs } from 'node:util';
import { Clock, type ExtensionCommand } from 'pet-store-service';
import { OrdersService } from './orders.service.js';

const USAGE = 'usage: petstore orders close-expired [--hours N] [--json]';
const HOUR_MS = 3_600_000;

/** `petstore orders close-expired` cancels the orders that are open for too long. */
export const ordersCommand: ExtensionCommand = {
  name: 'orders',
  description: 'close-expired [--hours 24]: cancel orders that are still open after this time',
  async run(app, args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { hours: { type: 'string', default: '24' }, json: { type: 'boolean' } },
    });
    if (positionals.join() !== 'close-expired') throw new Error(USAGE);
    const hours = Number(values.hours);
    if (!(hours > 0)) throw new Error('--hours must be a positive number');
    const before = new Date(app.get(Clock).now() - hours * HOUR_MS);
    const orders = app.get(OrdersService, { strict: false });
    const cancelled = await orders.cancelPlacedBefore(before);
    console.log(values.json ? JSON.stringify({ cancelled }) : `Cancelled ${cancelled} orders.`);
  },
};
