import type { IncomingMessage } from 'node:http';
import type { ExecutionContext, Type } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Operation } from './operations.js';
import { MessageGuard, OperationIds, requestIdOf } from './request-context.js';

describe(requestIdOf.name, () => {
  const idOf = (sent?: string) =>
    requestIdOf({
      headers: sent === undefined ? {} : { 'x-request-id': sent },
    } as unknown as IncomingMessage);

  it.each(['a', 'A.b_c-9', 'x'.repeat(128)])('keeps %p of the caller', (id) => {
    expect(idOf(id)).toBe(id);
  });

  it.each([
    undefined,
    '',
    'x'.repeat(129),
    'a b',
    'a,b',
    'a\n{"level":"fatal"}',
    'a\n',
    '\u001b[31m',
    'é',
    '<script>',
    '"',
  ])('puts a fresh one in the place of %p', (id) => {
    const fresh = idOf(id);
    expect(fresh).toMatch(/^[0-9a-f-]{36}$/);
    expect(idOf(id)).not.toBe(fresh);
  });
});

interface Message {
  url?: string;
  httpVersion?: string;
  fields?: number;
  headers?: Record<string, string>;
  rawHeaders?: string[];
  originalUrl?: string;
}

describe(MessageGuard.name, () => {
  const judge = (message: Message) => {
    const { url = '/v1/pets', httpVersion = '1.1', fields = 1, headers = {} } = message;
    const raw = {
      url,
      httpVersion,
      httpVersionMajor: Number(httpVersion[0]),
      headers: { host: 'x', ...headers },
      rawHeaders: message.rawHeaders ?? Array.from({ length: 2 * fields }, () => 'a'),
    };
    const request = { raw, url, originalUrl: message.originalUrl ?? url };
    return () =>
      new MessageGuard().canActivate({
        getArgByIndex: () => request,
      } as unknown as ExecutionContext);
  };
  const refusal = (code: string) => expect.objectContaining({ code }) as Error;
  const target = (length: number): string => `/${'a'.repeat(length - 1)}`;

  it('takes a target of 8,000 characters and no longer', () => {
    expect(judge({ url: target(8_000) })()).toBe(true);
    expect(judge({ url: target(8_001) })).toThrow(refusal('uri_too_long'));
  });

  it('takes 1,000 header fields and no more', () => {
    expect(judge({ fields: 1_000 })()).toBe(true);
    expect(judge({ fields: 1_001 })).toThrow(refusal('header_fields_too_large'));
  });

  it('wants a Host in HTTP/1.1, be it empty, and none in HTTP/1.0', () => {
    const without = { headers: { host: undefined as unknown as string } };
    expect(judge(without)).toThrow(refusal('malformed_request'));
    expect(judge({ ...without, httpVersion: '1.0' })()).toBe(true);
    expect(judge({ headers: { host: '' } })()).toBe(true);
  });

  it('takes HTTP/1.0 and HTTP/1.1 and no other version', () => {
    for (const httpVersion of ['1.0', '1.1']) expect(judge({ httpVersion })()).toBe(true);
    for (const httpVersion of ['0.9', '2.0'])
      expect(judge({ httpVersion })).toThrow(refusal('malformed_request'));
  });

  it('takes the name of a host and nothing else', () => {
    const withHost = (host: string) => judge({ headers: { host } });
    for (const host of ['x:3000', 'pet_store.example', '127.0.0.1:', '[::1]:80', 'a%20b'])
      expect(withHost(host)()).toBe(true);
    for (const host of ['a b', 'x/y', 'user@x', 'x:http', '[x]', 'x,y z', 'é'])
      expect(withHost(host)).toThrow(refusal('malformed_request'));
  });

  it.each([
    ['Host', 'hOST'],
    ['Content-Type', 'content-type'],
  ])('takes one %s and not two', (one, two) => {
    expect(judge({ rawHeaders: [one, 'x', 'A', 'y'] })()).toBe(true);
    expect(judge({ rawHeaders: [one, 'x', two, 'x'] })).toThrow(refusal('malformed_request'));
  });

  it.each(['gzip', 'gzip, chunked', 'chunked, chunked', 'identity', ''])(
    'takes no body in the coding %p',
    (coding) => {
      const message = { headers: { 'transfer-encoding': coding } };
      expect(judge(message)).toThrow(refusal('malformed_request'));
      expect(judge({ headers: { 'transfer-encoding': 'Chunked' } })()).toBe(true);
    },
  );

  it('refuses a target that had to be made decodable', () => {
    expect(judge({ originalUrl: '/v1/%zz', url: '/v1/%25zz' })).toThrow(
      refusal('malformed_request'),
    );
  });

  it('can be expected to continue, and nothing else', () => {
    expect(judge({ headers: { expect: '100-Continue' } })()).toBe(true);
    expect(judge({ headers: { expect: '100-continue, x' } })).toThrow(
      refusal('expectation_failed'),
    );
    expect(judge({ headers: { expect: '' } })).toThrow(refusal('expectation_failed'));
  });
});

class Ours {}
class Theirs {}

function operationsOf(module: Type, controller: Type): Operation[] {
  const prototype = controller.prototype as Record<string, Operation['handler']>;
  return Object.getOwnPropertyNames(prototype)
    .filter((name) => name !== 'constructor')
    .map((name) => ({
      module,
      controller,
      handler: prototype[name]!,
      name: `${controller.name}.${name}`,
      method: 'GET',
      paths: ['/'],
      isMadePerRequest: false,
    }));
}

class PetsController {
  listPets(): void {}
}
class ToysController {
  list(): void {}
  listPets(): void {}
  throwToy(): void {}
}
const OtherToys = (() => {
  class ToysController {
    list(): void {}
  }
  return ToysController;
})();

class ShopController {
  openShop(): void {}

  @ApiOperation({ operationId: 'openShop' })
  begin(): void {}

  @ApiOperation({ operationId: 'listPets' })
  listAnimals(): void {}
}

describe('OperationIds', () => {
  it('are the names of methods where nothing else has them, ours always, and else with the controller’s', () => {
    const all = [
      // A guest's first: it changes nothing.
      ...operationsOf(Theirs, ToysController),
      ...operationsOf(Theirs, OtherToys),
      ...operationsOf(Ours, PetsController),
    ];
    const ids = new OperationIds();
    ids.assign(all, new Set([Ours]));
    expect(all.map(({ controller, handler }) => ids.idOf(controller, handler))).toEqual([
      'ToysController_list',
      'ToysController_listPets',
      'throwToy',
      'ToysController_list_2',
      'listPets',
    ]);
  });

  it('are what @ApiOperation() says, with a number where something else is called so', () => {
    const all = [...operationsOf(Theirs, ShopController), ...operationsOf(Ours, PetsController)];
    const ids = new OperationIds();
    ids.assign(all, new Set([Ours]));
    expect(all.map(({ controller, handler }) => ids.idOf(controller, handler))).toEqual([
      'ShopController_openShop',
      'openShop',
      'listPets_2',
      'listPets',
    ]);
  });
});
