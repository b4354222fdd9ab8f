import type { Type } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { OperationIds } from './operation-ids.js';
import type { Operation } from './operations.js';

class Core {}
class Extension {}

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

describe(OperationIds.name, () => {
  it('is the name of the method, with the controller’s if another operation has the same; core operations keep theirs', () => {
    const all = [
      ...operationsOf(Extension, ToysController),
      ...operationsOf(Extension, OtherToys),
      ...operationsOf(Core, PetsController),
    ];
    const ids = new OperationIds();
    ids.assign(all, new Set([Core]));
    expect(all.map(({ controller, handler }) => ids.idOf(controller, handler))).toEqual([
      'ToysController_list',
      'ToysController_listPets',
      'throwToy',
      'ToysController_list_2',
      'listPets',
    ]);
  });

  it('is that of @ApiOperation(), with a number if it is taken', () => {
    const all = [...operationsOf(Extension, ShopController), ...operationsOf(Core, PetsController)];
    const ids = new OperationIds();
    ids.assign(all, new Set([Core]));
    expect(all.map(({ controller, handler }) => ids.idOf(controller, handler))).toEqual([
      'ShopController_openShop',
      'openShop',
      'listPets_2',
      'listPets',
    ]);
  });
});
