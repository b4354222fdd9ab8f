import { once } from 'node:events';
import { Readable } from 'node:stream';
import { get } from 'node:http';
import { Controller, Get, Module, StreamableFile } from '@nestjs/common';
import { AnyScope } from '../../src/index.js';
import { saveUsage } from '../support/background.js';
import { eventually } from '../support/eventually.js';
import { metricValue } from '../support/metrics.js';
import { type Line, recordedLog } from '../support/recorded-log.js';
import { startService } from '../support/start-service.js';

const ROW = 'a row';
let failNow: () => void;
const failure = new Promise<void>((resolve) => (failNow = resolve));

/** Fails once the client has the first row. */
function rows(): Readable {
  return Readable.from(
    (async function* () {
      yield ROW;
      await failure;
      throw new Error('The source has failed');
    })(),
  );
}

@AnyScope()
@Controller('rows')
class RowsController {
  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(rows());
  }

  @Get('stream')
  stream(): Readable {
    return rows();
  }

  @Get('web')
  web(): ReadableStream {
    return Readable.toWeb(rows()) as ReadableStream;
  }
}

@Module({ controllers: [RowsController] })
class RowsModule {}

describe('a stream that fails after the head of its response', () => {
  it.each(['file', 'stream', 'web'])('is a failed request in log and metrics: %s', async (name) => {
    const { logger, lines } = recordedLog();
    await using service = await startService({
      logger,
      extensions: [{ name: 'rows', module: RowsModule }],
    });
    const client = await service.client();
    const headers = { authorization: `Bearer ${client.key}` };
    const [response] = await once(
      get(`${service.origin}/v1/rows/${name}`, { headers }),
      'response',
    );
    response.once('data', failNow);
    // The response is cut off: the client cannot take it for a complete one.
    await expect(once(response, 'end')).rejects.toThrow('aborted');
    const isOfRequest = ({ details }: Line) => details.operation === name;
    await eventually(() => Promise.resolve(lines.filter(isOfRequest).length > 1));
    expect(lines.filter(isOfRequest)).toMatchObject([
      { level: 'error', details: { err: { message: 'The source has failed' } } },
      { message: 'request', details: { status: 500, code: 'internal_error' } },
    ]);
    const responses = 'petstore_http_request_duration_seconds_count';
    expect(await metricValue(service, responses, { operation: name, status: '500' })).toBe(1);
    await saveUsage(service);
    const { hours } = (await client.get('/v1/usage/history?hours=1')).json();
    expect(hours.at(-1).codes).toEqual({ internal_error: 1 });
    client.close();
  });
});
