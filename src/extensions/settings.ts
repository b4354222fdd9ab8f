import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import type { Environment, SettingsReader } from '../config/config.js';
import { ExtensionError } from './check.js';
import { type Extension, nameOf } from './define.js';

/** Rules that imply a number. */
const NUMBER_RULES = [
  'isInt',
  'isNumber',
  'isPositive',
  'isNegative',
  'min',
  'max',
  'isDivisibleBy',
];
const NUMBER = /^-?\d+(\.\d+)?$/;

/** Readers that `loadConfig` uses to fill the settings of extensions. */
export function settingsOf(extensions: readonly Extension[]): SettingsReader[] {
  return extensions.flatMap((extension) => {
    const settings = extension?.settings;
    return settings === undefined ? [] : [(environment) => readSettings(settings, environment)];
  });
}

/** @throws {ExtensionError} if the configuration was loaded without the settings of an extension */
export function assertSettingsRead(
  extensions: readonly Extension[],
  read: readonly object[],
): void {
  for (const extension of extensions) {
    const { settings } = extension;
    if (settings === undefined || read.some((each) => each instanceof settings)) continue;
    throw new ExtensionError(
      `settings of the extension ${nameOf(extension)} are missing: ` +
        'call loadConfig(environment, settingsOf(extensions))',
    );
  }
}

/** Provides each settings object under its class, in every module. */
export class SettingsModule {
  static forRoot(settings: readonly object[]): DynamicModule {
    const providers = settings.map((each) => ({ provide: each.constructor, useValue: each }));
    return { module: SettingsModule, global: true, providers, exports: providers };
  }
}

/**
 * Fills a settings class from environment variables: `maxOpenOrders` from `MAX_OPEN_ORDERS`. An unset or empty variable
 * leaves the default of the class.
 */
export function readSettings(
  type: Type<object>,
  environment: Environment,
): ReturnType<SettingsReader> {
  const defaults = new type() as Record<string, unknown>;
  const given: Record<string, unknown> = {};
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = [...new Set(rules.map(({ propertyName }) => propertyName))];
  if (names.length === 0) {
    const faults = [`${type.name}: every setting needs a class-validator rule`];
    return { settings: defaults, faults, variables: [] };
  }
  for (const name of names) {
    const text = environment[variableOf(name)]?.trim();
    const ruleNames = rules.filter((rule) => rule.propertyName === name).map((rule) => rule.name);
    if (text) given[name] = convert(text, kindOf(type, name, ruleNames, defaults[name]));
  }
  const settings = plainToInstance(type, given, { exposeDefaultValues: true });
  const faults = validateSync(settings).flatMap((error) =>
    messagesOf(error).map((message) => withVariable(error.property, message)),
  );
  return { settings, faults, variables: names.map(variableOf) };
}

function variableOf(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();
}

/** The declared type if the compiler emitted it, otherwise the type that the rules or the default imply. */
function kindOf(
  type: Type<object>,
  name: string,
  rules: readonly (string | undefined)[],
  value: unknown,
): string {
  const declared = Reflect.getMetadata('design:type', type.prototype as object, name) as unknown;
  if (declared === Number) return 'number';
  if (declared === Boolean) return 'boolean';
  if (declared === String) return 'string';
  if (rules.some((rule) => NUMBER_RULES.includes(rule ?? ''))) return 'number';
  return rules.includes('isBoolean') ? 'boolean' : typeof value;
}

/** Text that cannot be converted stays text, which the rules then reject. */
function convert(text: string, kind: string): unknown {
  if (kind === 'number' && NUMBER.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function messagesOf({ constraints = {}, children = [] }: ValidationError): string[] {
  return [...Object.values(constraints), ...children.flatMap(messagesOf)];
}

function withVariable(property: string, message: string): string {
  const variable = variableOf(property);
  return message.startsWith(`${property} `)
    ? variable + message.slice(property.length)
    : `${variable}: ${message}`;
}
