import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import type { Environment, SettingsReader } from '../config/config.js';
import { ExtensionError } from './check.js';
import { type Extension, nameOf } from './define.js';

/** Rules that only a number can keep. */
const OF_NUMBERS = ['isInt', 'isNumber', 'isPositive', 'isNegative', 'min', 'max', 'isDivisibleBy'];
const NUMBER = /^-?\d+(\.\d+)?$/;

/** The settings of extensions, each of which `loadConfig` fills from the environment. */
export function settingsOf(extensions: readonly Extension[]): SettingsReader[] {
  return extensions.flatMap((extension) => {
    const settings = extension?.settings;
    return settings === undefined ? [] : [(environment) => readSettings(settings, environment)];
  });
}

/** @throws {ExtensionError} where a configuration was loaded without the settings of an extension */
export function assertSettingsRead(
  extensions: readonly Extension[],
  read: readonly object[],
): void {
  for (const extension of extensions) {
    const { settings } = extension;
    if (settings === undefined || read.some((each) => each instanceof settings)) continue;
    throw new ExtensionError(
      `The settings of the extension ${nameOf(extension)} were not read: ` +
        'loadConfig(environment, settingsOf(extensions))',
    );
  }
}

/** Has them injected by their classes, wherever they are asked for. */
export class SettingsModule {
  static forRoot(settings: readonly object[]): DynamicModule {
    const providers = settings.map((each) => ({ provide: each.constructor, useValue: each }));
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}

/**
 * A member is filled by the variable of its name in capitals: `maxOpenOrders` by `MAX_OPEN_ORDERS`, and
 * `ORDERS_MAX` by `ORDERS_MAX`. Where that is unset or empty, it keeps what the class gives it.
 */
export function readSettings(
  type: Type<object>,
  environment: Environment,
): ReturnType<SettingsReader> {
  const defaults = new type() as Record<string, unknown>;
  const given: Record<string, unknown> = {};
  const members = rulesOf(type);
  if (members.size === 0) {
    const faults = [
      `${type.name}: a class of settings needs a rule of class-validator on each member`,
    ];
    return { settings: defaults, faults, variables: [] };
  }
  for (const [name, rules] of members) {
    const text = environment[variableOf(name)]?.trim();
    if (text) given[name] = valueOf(text, kindOf(type, name, rules, defaults[name]));
  }
  const settings = plainToInstance(type, given, { exposeDefaultValues: true });
  const faults = validateSync(settings).flatMap((error) =>
    messagesOf(error).map((message) => saidOf(error.property, message)),
  );
  return { settings, faults, variables: Array.from(members.keys(), variableOf) };
}

function rulesOf(type: Type<object>): Map<string, string[]> {
  const rules = new Map<string, string[]>();
  const all = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  for (const { propertyName, name, type: kind } of all) {
    rules.set(propertyName, [...(rules.get(propertyName) ?? []), name ?? kind]);
  }
  return rules;
}

function variableOf(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();
}

/** By the type that was written down, where the compiler has kept it; else by its rules, or its default. */
function kindOf(
  type: Type<object>,
  name: string,
  rules: readonly string[],
  value: unknown,
): string {
  const declared = Reflect.getMetadata('design:type', type.prototype as object, name) as unknown;
  if (declared === Number) return 'number';
  if (declared === Boolean) return 'boolean';
  if (declared === String) return 'string';
  if (rules.some((rule) => OF_NUMBERS.includes(rule))) return 'number';
  if (rules.includes('isBoolean')) return 'boolean';
  return typeof value;
}

/** What cannot be read as its kind stays text: the rules say what it should have been. */
function valueOf(text: string, kind: string): unknown {
  if (kind === 'number' && NUMBER.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Those of what is nested, too: the variable that they came from is one. */
function messagesOf({ constraints = {}, children = [] }: ValidationError): string[] {
  return [...Object.values(constraints), ...children.flatMap(messagesOf)];
}

function saidOf(property: string, message: string): string {
  const variable = variableOf(property);
  return message.startsWith(`${property} `)
    ? variable + message.slice(property.length)
    : `${variable}: ${message}`;
}
