import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { Operation } from './operations.js';
import type { Handler } from './per-operation.js';

/**
 * What each operation is called, in the document, in metrics and in the log: its method's name where nothing else
 * has it, else with its controller's. Ours keep theirs, whatever guests call their own.
 */
@Injectable()
export class OperationIds {
  private readonly ids = new Map<Type, Map<Handler, string>>();

  /** Told once all modules are known. @param ours the modules whose operations are ours */
  assign(operations: readonly Operation[], ours: ReadonlySet<Type>): void {
    const taken = new Set<string>();
    const guests: Operation[] = [];
    for (const operation of operations) {
      if (!ours.has(operation.module)) guests.push(operation);
      else this.set(operation, taken, operation.handler.name);
    }
    const counts = new Map<string, number>();
    for (const { handler } of guests) {
      counts.set(handler.name, (counts.get(handler.name) ?? 0) + 1);
    }
    for (const operation of guests) {
      const { controller, handler } = operation;
      const isAlone = counts.get(handler.name) === 1 && !taken.has(handler.name);
      const name = isAlone ? handler.name : `${controller.name}_${handler.name}`;
      this.set(operation, taken, unlike(taken, name));
    }
  }

  of(context: ExecutionContext): string {
    const handler = context.getHandler();
    return this.idOf(context.getClass(), handler) ?? handler.name;
  }

  idOf(controller: Type, handler: Handler): string | undefined {
    return this.ids.get(controller)?.get(handler);
  }

  private set({ controller, handler }: Operation, taken: Set<string>, id: string): void {
    taken.add(id);
    const ofController = this.ids.get(controller) ?? new Map<Handler, string>();
    this.ids.set(controller, ofController.set(handler, id));
  }
}

/** The name, or the first with a number that nothing has yet. */
export function unlike(taken: ReadonlySet<string>, name: string): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
  }
}
