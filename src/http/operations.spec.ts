import type { Type } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { declaredId, type Operation, withUniqueIds } from './operations.js';

function operationsOf(controller: Type, isCore = false): Operation[] {
  const prototype = controller.prototype as Record<string, Operation['handler']>;
  return Object.getOwnPropertyNames(prototype)
    .filter((key) => key !== 'constructor')
    .map((key) => ({
      id: declaredId(prototype[key]!),
      isCore,
      controller,
      handler: prototype[key]!,
      key,
      name: `${controller.name}.${key}`,
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
  listOwned(): void {}
}

describe(withUniqueIds.name, () => {
  const idsOf = (operations: Operation[]) =>
    Object.fromEntries(withUniqueIds(operations).map(({ id, name }) => [id, name]));

  it('adds the name of the controller to an id that is taken, except for core operations', () => {
    const all = [
      ...operationsOf(ToysController),
      ...operationsOf(OtherToys),
      ...operationsOf(PetsController, true),
    ];
    expect(idsOf(all)).toEqual({
      ToysController_list: 'ToysController.list',
      ToysController_listPets: 'ToysController.listPets',
      throwToy: 'ToysController.throwToy',
      ToysController_list_2: 'ToysController.list',
      listPets: 'PetsController.listPets',
    });
  });

  it('uses the id of @ApiOperation(), with a number if it is taken', () => {
    const all = [...operationsOf(ShopController), ...operationsOf(PetsController, true)];
    expect(idsOf(all)).toEqual({
      ShopController_openShop: 'ShopController.openShop',
      openShop: 'ShopController.begin',
      listPets_2: 'ShopController.listOwned',
      listPets: 'PetsController.listPets',
    });
  });
});
