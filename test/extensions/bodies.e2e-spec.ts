import { Body, Controller, HttpCode, Module, Post, Put } from '@nestjs/common';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsString, ValidateNested } from 'class-validator';
import { AcceptsBody, AnyScope, BodyLimit, Idempotent } from '../../src/index.js';
import { expectError } from '../support/expectations.js';
import { startAndClose, useService } from '../support/start-service.js';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]);
const MIB = 1_048_576;

class Line {
  @IsString() text!: string;
}

class Lines {
  @IsArray()
  @ArrayMaxSize(5_000)
  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];
}

@AnyScope()
@Controller('bodies')
class BodiesController {
  @Post('lines')
  @BodyLimit({ bytes: MIB, values: 10_002 })
  addLines(@Body() { lines }: Lines): { count: number } {
    return { count: lines.length };
  }

  @Post('few')
  addFew(@Body() { lines }: Lines): { count: number } {
    return { count: lines.length };
  }

  @Post('short')
  @BodyLimit({ bytes: 30 })
  addShort(@Body() { lines }: Lines): { count: number } {
    return { count: lines.length };
  }

  @Put('picture')
  @HttpCode(200)
  @AcceptsBody('image/png', 'image/jpeg')
  @BodyLimit({ bytes: 2 * MIB })
  putPicture(@Body() picture: Buffer): { isBuffer: boolean; size: number; start: string } {
    const isBuffer = Buffer.isBuffer(picture);
    return { isBuffer, size: picture.length, start: picture.toString('hex', 0, 8) };
  }

  @Post('pictures')
  @Idempotent()
  @AcceptsBody('image/png')
  @ApiCreatedResponse()
  addPicture(@Body() picture: Buffer): { size: number; at: string } {
    return { size: picture.length, at: String(process.hrtime.bigint()) };
  }
}

@Module({ controllers: [BodiesController] })
class BodiesModule {}

const linesOf = (count: number) => ({
  lines: Array.from({ length: count }, () => ({ text: 'x' })),
});

describe('bodies of an extension', () => {
  const { service, client } = useService({ extensions: [{ module: BodiesModule }] });
  const put = (body: Buffer, type: string, headers: Record<string, string> = {}) =>
    client.send('/v1/bodies/picture', {
      method: 'PUT',
      headers: { 'content-type': type, ...headers },
      body,
    });

  describe('with @BodyLimit()', () => {
    it('accept the values and bytes that the operation allows', async () => {
      const response = await client.post('/v1/bodies/lines', linesOf(5_000));
      expect([response.status, response.json()]).toEqual([201, { count: 5_000 }]);
      const long = { lines: [{ text: 'x'.repeat(MIB - 100) }] };
      expect((await client.post('/v1/bodies/lines', long)).status).toBe(201);
    });

    it('reject more than that', async () => {
      const { lines } = linesOf(5_000);
      const values = await client.post('/v1/bodies/lines', { lines: [...lines, 1] });
      expectError(values, 400, 'invalid_request');
      expect(values.json().message).toContain('more than 10002 values');
      const bytes = await client.post('/v1/bodies/lines', { lines: [{ text: 'x'.repeat(MIB) }] });
      expectError(bytes, 413, 'payload_too_large');
      expect(bytes.json().message).toContain('1048576 bytes');
      expectError(await client.post('/v1/bodies/short', linesOf(2)), 413, 'payload_too_large');
      expect((await client.post('/v1/bodies/short', linesOf(1))).status).toBe(201);
    });

    it('do not change the limits of other operations', async () => {
      const values = await client.post('/v1/bodies/few', linesOf(500));
      expect(values.json().message).toContain('more than 1000 values');
      const bytes = await client.post('/v1/bodies/few', { lines: [{ text: 'x'.repeat(65_536) }] });
      expectError(bytes, 413, 'payload_too_large');
    });

    it('respond with 401 and 429 before anything about the body', async () => {
      const body = '{'.repeat(2 * MIB);
      const headers = { 'content-type': 'application/json' };
      const anonymous = service.anonymous();
      const call = { method: 'POST', headers, body };
      expectError(await anonymous.send('/v1/bodies/lines', call), 401, 'missing_api_key');
      const limits = { plan: 'enterprise', perMinute: 1, perDay: 10 };
      const poor = await service.client(limits);
      expectError(await poor.send('/v1/bodies/lines', call), 413, 'payload_too_large');
      expectError(await poor.send('/v1/bodies/lines', call), 429, 'rate_limit_exceeded');
      anonymous.close();
      poor.close();
    });
  });

  describe('with @AcceptsBody()', () => {
    it.each(['image/png', 'Image/JPEG', 'image/png; quality=1'])(
      'are a Buffer of %s',
      async (type) => {
        const { status, text } = await put(PNG, type);
        expect([status, JSON.parse(text)]).toEqual([
          200,
          { isBuffer: true, size: PNG.length, start: PNG.toString('hex') },
        ]);
      },
    );

    it('may be large, or empty', async () => {
      expect((await put(Buffer.alloc(2 * MIB, 7), 'image/png')).json().size).toBe(2 * MIB);
      expect((await put(Buffer.alloc(0), 'image/png')).json()).toMatchObject({ size: 0 });
      const larger = await put(Buffer.alloc(2 * MIB + 1), 'image/png');
      expectError(larger, 413, 'payload_too_large');
    });

    it.each(['image/gif', 'application/json', 'image', ''])('are no %p', async (type) => {
      const response = await put(Buffer.from('{}'), type);
      expectError(response, 415, 'unsupported_media_type');
      expect(response.json().message).toContain('image/png or image/jpeg');
    });

    it('have no content encoding', async () => {
      const response = await put(PNG, 'image/png', { 'content-encoding': 'gzip' });
      expectError(response, 415, 'unsupported_media_type');
    });

    it('are compared byte by byte when a request is repeated', async () => {
      const post = (body: Buffer) =>
        client.send('/v1/bodies/pictures', {
          method: 'POST',
          headers: { 'content-type': 'image/png', 'idempotency-key': 'picture' },
          body,
        });
      const first = await post(PNG);
      const again = await post(PNG);
      expect([again.status, again.text]).toEqual([201, first.text]);
      const other = Buffer.from(PNG);
      other[6] = 253;
      expectError(await post(other), 422, 'idempotency_key_reused');
    });
  });

  it('are in the document', async () => {
    const { paths } = (await client.get('/openapi.json')).json();
    const { requestBody, responses } = paths['/bodies/picture'].put;
    const media = { schema: { type: 'string', format: 'binary' } };
    expect(requestBody).toEqual({
      required: true,
      content: { 'image/png': media, 'image/jpeg': media },
    });
    expect(responses[413].description).toBe('The body exceeds 2048 KiB.');
    expect(responses[415].description).toContain('`image/png` or `image/jpeg`');
    expect(JSON.stringify(responses[400])).not.toContain('malformed_json');
    expect(paths['/bodies/few'].post.responses[413].description).toBe('The body exceeds 64 KiB.');
  });

  it.each<[string, MethodDecorator, string]>([
    ['too many bytes', BodyLimit({ bytes: 16 * MIB + 1 }), 'bytes of @BodyLimit() must be'],
    ['no values', BodyLimit({ values: 0 }), 'values of @BodyLimit() must be an integer'],
    ['a wildcard', AcceptsBody('image/*'), '@AcceptsBody() takes media types such as image/png'],
  ])('stop the start with %s', async (_what, decorator, message) => {
    @AnyScope()
    @Controller('faulty')
    class FaultyController {
      @Post()
      @decorator
      add(): void {}
    }
    @Module({ controllers: [FaultyController] })
    class FaultyModule {}
    const start = startAndClose({ extensions: [{ module: FaultyModule }] });
    await expect(start).rejects.toThrow(`FaultyController.add: ${message}`);
  });
});
