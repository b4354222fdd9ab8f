import type { Type } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { type Operation, OperationIds } from './operations.js';

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
