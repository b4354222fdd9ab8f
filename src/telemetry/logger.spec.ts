import { createLogger, NestLogger, type Logger } from './logger.js';
import { NoMetrics } from './metrics.js';

describe(createLogger.name, () => {
  it.each(['json', 'pretty'] as const)('writes %s', async (logFormat) => {
    const logger = await createLogger({ logLevel: 'silent', logFormat });
    logger.info({ a: 1 }, 'nobody hears it');
    logger.flush();
  });
});

describe(NestLogger.name, () => {
  it('passes on what Nest says, its normal talk as detail', () => {
    const said: [string, object, string][] = [];
    const note = (level: string) => (details: object, message: string) =>
      void said.push([level, details, message]);
    const levels = ['fatal', 'error', 'warn', 'info', 'debug'];
    const logger = Object.fromEntries(levels.map((level) => [level, note(level)]));
    const nest = new NestLogger(logger as unknown as Logger);
    nest.log('mapped', 'Router');
    nest.debug('detail', 'Router');
    nest.verbose('detail', 'Router');
    nest.warn('careful', 'Router');
    nest.error('broken', 'stack', 'Router');
    nest.fatal('over', 'Router');
    expect(said.map(([level, , message]) => [level, message])).toEqual([
      ['debug', 'mapped'],
      ['debug', 'detail'],
      ['debug', 'detail'],
      ['warn', 'careful'],
      ['error', 'broken'],
      ['fatal', 'over'],
    ]);
    expect(said[0]![1]).toEqual({ context: 'Router' });
  });
});

describe(NoMetrics.name, () => {
  it('has nothing to expose', async () => {
    const metrics = new NoMetrics();
    metrics.counter({ name: 'orders_total', help: 'Orders.' }).of().add();
    metrics.gauge();
    metrics.setQuotaStore();
    expect((await metrics.expose()).body).toBe('');
  });
});
