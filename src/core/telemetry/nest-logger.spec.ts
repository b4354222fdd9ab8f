import type { Logger } from './logger.js';
import { NestLogger } from './nest-logger.js';

describe(NestLogger.name, () => {
  const said: unknown[][] = [];
  const note = (level: string) => (details: object, message: string) =>
    void said.push([level, message, details]);
  const levels = ['fatal', 'error', 'warn', 'info', 'debug'];
  const logger = Object.fromEntries(levels.map((level) => [level, note(level)]));
  const nest = new NestLogger(logger as unknown as Logger);
  beforeEach(() => (said.length = 0));

  it('writes each level, and how Nest starts as detail', () => {
    nest.log('Mapped {/pets, GET} route', 'RouterExplorer');
    nest.log('Order placed', 'OrdersService');
    nest.debug('detail', 'OrdersService');
    nest.verbose('detail', 'OrdersService');
    nest.warn('careful', 'OrdersService');
    nest.fatal('over', 'OrdersService');
    const ofOrders = { context: 'OrdersService' };
    expect(said).toEqual([
      ['debug', 'Mapped {/pets, GET} route', { context: 'RouterExplorer' }],
      ['info', 'Order placed', ofOrders],
      ['debug', 'detail', ofOrders],
      ['debug', 'detail', ofOrders],
      ['warn', 'careful', ofOrders],
      ['fatal', 'over', ofOrders],
    ]);
  });

  it('logs the error that ends a start at debug, because the command prints it', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    nest.error(refused, 'ExceptionHandler');
    nest.error(new TypeError('x is undefined'), 'ExceptionHandler');
    nest.error('Error: listen EADDRINUSE', 'NestApplication');
    nest.error(refused, 'OrdersService');
    expect(said.map(([level]) => level)).toEqual(['debug', 'debug', 'debug', 'error']);
  });

  it('writes an error and the message before it in one line', () => {
    const err = new Error('declined');
    nest.error('Payment failed', err, 'Payments');
    nest.warn('Payment failed', { orderId: 7 }, err, 'Payments');
    const context = 'Payments';
    expect(said).toEqual([
      ['error', 'Payment failed', { context, err }],
      ['warn', 'Payment failed', { context, err, details: { orderId: 7 } }],
    ]);
  });

  it('keeps errors, stacks and objects', () => {
    const error = new Error('declined');
    const { stack } = error;
    nest.error('Payment failed', stack, 'Payments');
    nest.error(error, 'Payments');
    nest.error('Payment failed', undefined, 'Payments');
    nest.warn({ orderId: 7 });
    nest.log('placed', { orderId: 7 }, 'Orders');
    expect(said).toEqual([
      [
        'error',
        'Payment failed',
        { context: 'Payments', err: { message: 'Payment failed', stack } },
      ],
      ['error', 'declined', { context: 'Payments', err: error }],
      ['error', 'Payment failed', { context: 'Payments' }],
      ['warn', '', { details: { orderId: 7 } }],
      ['info', 'placed', { context: 'Orders', details: { orderId: 7 } }],
    ]);
  });
});
