import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  ValidateBy,
  validateSync,
  type ValidationError,
  type ValidatorOptions,
} from 'class-validator';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Fills a settings class from environment variables: `maxOpenOrders` from `MAX_OPEN_ORDERS`. An
 * unset or empty variable leaves the default of the class. The rules decide whether a value is
 * text, a number or a boolean.
 */
export function readSettings<T extends object>(type: Type<T>, environment: Environment) {
  const given: Record<string, unknown> = {};
  for (const { propertyName } of rulesOf(type)) {
    const text = environment[variableOf(propertyName)]?.trim();
    if (text) given[propertyName] = text;
  }
  const fill = () => plainToInstance(type, given, { exposeDefaultValues: true });
  const texts = fill() as Record<string, unknown>;
  for (const { property } of validateSync(texts)) {
    // Skip values that `@Transform()` already changed.
    if (texts[property] === given[property]) given[property] = converted(given[property]);
  }
  const settings = fill();
  return { settings, faults: faultsOf(settings, {}, variableOf) };
}

/** Checks an object of an untyped configuration by a class with rules for all its members. */
export function shapeFaults(type: Type<object>, given: unknown): string[] {
  const checked: object = Object.assign(new type(), given);
  const known = new Set(rulesOf(type).map(({ propertyName }) => propertyName));
  return faultsOf(checked, { whitelist: true, forbidNonWhitelisted: true }, (name) => name).map(
    (fault) => fault.replace(/is not a known member$/, `$&; known are ${[...known].join(', ')}`),
  );
}

/** @returns a message for each fault, with the name of its member */
function faultsOf(
  checked: object,
  options: ValidatorOptions,
  nameOf: (property: string) => string,
): string[] {
  return validateSync(checked, options).flatMap((error) => {
    const { property } = error;
    return messagesOf(error).map((message) =>
      message.startsWith(`${property} `)
        ? nameOf(property) + message.slice(property.length)
        : `${nameOf(property)}: ${message}`,
    );
  });
}

/** The rules of class-validator for the members of a class. */
export function rulesOf(type: { prototype: object }): { propertyName: string }[] {
  return getMetadataStorage().getTargetValidationMetadatas(type as Type, '', false, false);
}

/** A rule. @param faultOf completes the message "NAME ..."; undefined if the value is valid */
export function check<T>(faultOf: (value: T) => string | undefined): PropertyDecorator {
  return ValidateBy({
    name: 'check',
    validator: {
      validate: (value: T) => faultOf(value) === undefined,
      defaultMessage: (validation) => `${validation!.property} ${faultOf(validation!.value as T)}`,
    },
  });
}

/**
 * A rule with the message "NAME must be EXPECTED, not VALUE". The value is omitted if it may
 * contain a password.
 */
export function mustBe<T>(expected: string, isValid: (value: T) => boolean): PropertyDecorator {
  return check((value: T) => {
    if (isValid(value)) return undefined;
    const text = shown(value);
    return `must be ${expected}${text.includes('@') ? '' : `, not ${text}`}`;
  });
}

/** A value for a message; a class by its name. */
export function shown(value: unknown): string {
  return JSON.stringify(value) ?? String((value as Partial<Type> | undefined)?.name);
}

export const IsInteger = (minimum: number, maximum: number) =>
  mustBe(
    `an integer between ${minimum} and ${maximum}`,
    (value: number) => Number.isInteger(value) && value >= minimum && value <= maximum,
  );

function variableOf(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();
}

function converted(text: unknown): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(String(text)) ? Number(text) : text;
}

function messagesOf({ constraints = {}, children = [] }: ValidationError): string[] {
  const own = Object.values(constraints).map((message) =>
    message.replace(/^property (.*) should not exist$/, '$1 is not a known member'),
  );
  return [...own, ...children.flatMap(messagesOf)];
}
