import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { Logger } from '../telemetry/logger.js';

/** What is being told to handlers. */
interface Telling {
  name: string;
  event: unknown;
  requestId: string | undefined;
}
type Method = (this: object, ...args: unknown[]) => unknown;

const telling = new AsyncLocalStorage<Telling>();

/** Handlers that fail meanwhile are logged, each with what it was told of. */
export function whileTelling<Result>(told: Telling, work: () => Result): Result {
  return telling.run(told, work);
}

/**
 * Has the log say which handler of `@OnEvent` failed, and at what: Nest itself has a message alone. What is called
 * otherwise throws as ever.
 */
@Injectable()
export class Listeners implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    const scanner = new MetadataScanner();
    const wrappers = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    for (const { instance, isAlias } of wrappers) {
      if (typeof instance !== 'object' || instance === null || isAlias) continue;
      const prototype = Object.getPrototypeOf(instance) as object | null;
      for (const name of scanner.getAllMethodNames(prototype))
        this.follow(instance as object, name);
    }
  }

  private follow(instance: object, name: string): void {
    const methods = instance as Record<string, Method>;
    const method = methods[name];
    // An own property may cover the method.
    if (typeof method !== 'function' || !Reflect.hasMetadata(NOTED_AT, method)) return;
    const handler = `${instance.constructor.name}.${name}`;
    const { logger } = this;
    const guarded = async (told: Telling, work: () => unknown): Promise<unknown> => {
      try {
        return await work();
      } catch (thrown) {
        const err = thrown instanceof Error ? thrown : new Error(`It threw ${String(thrown)}`);
        const { name: event, requestId } = told;
        logger.error({ err, event, handler, requestId }, 'A handler of an event failed');
        return undefined;
      }
    };
    const followed: Method = function (...args) {
      const told = telling.getStore();
      const work = (): unknown => method.apply(this, args);
      return told !== undefined && told.event === args[0] ? guarded(told, work) : work();
    };
    for (const key of Reflect.getMetadataKeys(method) as unknown[]) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, method), followed);
    }
    methods[name] = followed;
  }
}

/** Where the decorator notes what it says; its own name for that is not public. */
const NOTED_AT = ((): unknown => {
  class Probe {
    handler(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Probe.prototype, 'handler')!;
  OnEvent('probe')(Probe.prototype, 'handler', descriptor);
  const [key] = Reflect.getMetadataKeys(descriptor.value as object) as unknown[];
  if (key === undefined) throw new Error('This release of Nest notes its listeners elsewhere');
  return key;
})();
