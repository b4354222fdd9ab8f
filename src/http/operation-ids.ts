import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { Handler } from './request-context.js';

/** The metadata key of `@ApiOperation()`, which @nestjs/swagger does not export. */
const API_OPERATION = 'swagger/apiOperation';

interface NamedOperation {
  module: Type;
  controller: Type;
  handler: Handler;
}

/**
 * The id of each operation in the document, in metrics and in the log: that of `@ApiOperation()`, otherwise the name of
 * the method, combined with the controller's if another operation has the same. Operations of the service come first.
 */
@Injectable()
export class OperationIds {
  private readonly ids = new Map<Type, Map<Handler, string>>();

  /** @param core modules of the service itself */
  assign(operations: readonly NamedOperation[], core: ReadonlySet<Type>): void {
    const taken = new Set<string>();
    const others: NamedOperation[] = [];
    for (const operation of operations) {
      if (core.has(operation.module)) this.set(operation, taken, operation.handler.name);
      else others.push(operation);
    }
    const counts = new Map<string, number>();
    for (const { handler } of others) {
      const name = givenId(handler) ?? handler.name;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const operation of others) {
      const { controller, handler } = operation;
      const isAlone = counts.get(handler.name) === 1 && !taken.has(handler.name);
      const name = isAlone ? handler.name : `${controller.name}_${handler.name}`;
      this.set(operation, taken, uniqueName(taken, givenId(handler) ?? name));
    }
  }

  of(context: ExecutionContext): string {
    const handler = context.getHandler();
    return this.idOf(context.getClass(), handler) ?? handler.name;
  }

  idOf(controller: Type, handler: Handler): string | undefined {
    return this.ids.get(controller)?.get(handler);
  }

  private set({ controller, handler }: NamedOperation, taken: Set<string>, id: string): void {
    taken.add(id);
    const ofController = this.ids.get(controller) ?? new Map<Handler, string>();
    this.ids.set(controller, ofController.set(handler, id));
  }
}

/** The `operationId` of `@ApiOperation()`. */
function givenId(handler: Handler): string | undefined {
  const noted = Reflect.getMetadata(API_OPERATION, handler) as { operationId?: string } | undefined;
  return noted?.operationId;
}

/** The name, or the name with the first number that is free. */
export function uniqueName(taken: ReadonlySet<string>, name: string): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
  }
}
