import { Transform, Type } from 'class-transformer';
import {
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { loadConfig } from './config.js';
import { readSettings } from './settings.js';

class OrderSettings {
  @IsInt()
  @Min(1)
  @Max(100)
  maxOpenOrders = 5;

  @IsBoolean()
  ORDERS_STRICT = false;

  @IsUrl({ require_tld: false })
  ordersUrl!: string;

  @IsOptional()
  @IsString({ each: true })
  @Transform(({ value }) => (value as string).split(','))
  orderKinds?: string[];
}
const ORDERS_URL = 'http://orders.local/x';

describe(readSettings.name, () => {
  const read = (environment: Record<string, string>) => readSettings(OrderSettings, environment);

  it('names the variable that a nested value comes from', () => {
    class Limits {
      @IsInt()
      most!: number;
    }
    class Nested {
      @ValidateNested()
      @Type(() => Limits)
      @Transform(({ value }) => Object.assign(new Limits(), JSON.parse(value as string)))
      orderLimits!: Limits;
    }
    const { faults } = readSettings(Nested, { ORDER_LIMITS: '{"most":"many"}' });
    expect(faults).toEqual(['ORDER_LIMITS: most must be an integer number']);
  });

  it('fills members from variables and keeps the defaults of unset ones', () => {
    const { settings, faults } = read({ ORDERS_URL, MAX_OPEN_ORDERS: ' ' });
    expect(faults).toEqual([]);
    expect(settings).toBeInstanceOf(OrderSettings);
    expect(settings).toMatchObject({
      maxOpenOrders: 5,
      ORDERS_STRICT: false,
      ordersUrl: ORDERS_URL,
    });
    const all = { ORDERS_URL, MAX_OPEN_ORDERS: '7', ORDERS_STRICT: 'true', ORDER_KINDS: 'a,b' };
    expect(read(all).settings).toEqual({
      maxOpenOrders: 7,
      ORDERS_STRICT: true,
      ordersUrl: ORDERS_URL,
      orderKinds: ['a', 'b'],
    });
  });

  it('names each fault by its variable', () => {
    expect(read({ MAX_OPEN_ORDERS: '7.5', ORDERS_STRICT: 'yes' }).faults).toEqual([
      'MAX_OPEN_ORDERS must be an integer number',
      'ORDERS_STRICT must be a boolean value',
      'ORDERS_URL must be a URL address',
    ]);
    expect(read({ ORDERS_URL, MAX_OPEN_ORDERS: 'many' }).faults).toHaveLength(3);
  });
});

describe(loadConfig.name, () => {
  it('reports the faults of extensions together with the faults of the service', () => {
    const load = () => loadConfig({ PORT: 'x', MAX_OPEN_ORDERS: '0' }, [OrderSettings]);
    expect(load).toThrow(
      /^PORT must be .*\nMAX_OPEN_ORDERS must not be less than 1\nORDERS_URL must be a URL/,
    );
    expect(loadConfig({ ORDERS_URL }, [OrderSettings]).settings).toEqual([
      expect.any(OrderSettings),
    ]);
  });
});
