import type { ExecutionContext, Type } from '@nestjs/common';

export type Handler = ReturnType<ExecutionContext['getHandler']>;

/**
 * What the metadata of an operation say, worked out once for each. By controller and handler: those that
 * inherit a handler share it, and not what a decorator of theirs says of it.
 */
export class PerOperation<Value> {
  private readonly known = new WeakMap<Type, WeakMap<Handler, { value: Value }>>();

  constructor(private readonly resolve: (controller: Type, handler: Handler) => Value) {}

  of(context: ExecutionContext): Value {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    let ofController = this.known.get(controller);
    if (ofController === undefined) {
      ofController = new WeakMap();
      this.known.set(controller, ofController);
    }
    let found = ofController.get(handler);
    if (found === undefined) {
      found = { value: this.resolve(controller, handler) };
      ofController.set(handler, found);
    }
    return found.value;
  }
}
