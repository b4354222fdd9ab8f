import type { ArgumentMetadata } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

export type Class = NonNullable<ArgumentMetadata['metatype']>;
type Condition = (object: object, value: unknown) => boolean;
type Test = (object: Readonly<Record<string, unknown>>) => boolean;

const CONDITION = 'conditionalValidation';
const KNOWN_TYPES = [CONDITION, 'customValidation', 'whitelistValidation'];

const tests = new WeakMap<Class, Test>();

/** The rules of class-validator for the members of a DTO. */
export function rulesOf(dto: Class) {
  return getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
}

/**
 * Whether the members of an instance are all declared and keep their rules. False also where only
 * class-validator can tell: nested objects, rules for each item, groups, asynchronous rules. It
 * takes 0.2 µs instead of 2 µs.
 */
export function isValid(dto: Class, instance: object): boolean {
  const test = tests.get(dto) ?? compile(dto);
  tests.set(dto, test);
  return test(instance as Record<string, unknown>);
}

function compile(dto: Class): Test {
  const rules = rulesOf(dto);
  const isKnown = rules.every(
    ({ type, each, groups }) => KNOWN_TYPES.includes(type) && !each && !groups?.length,
  );
  if (rules.length === 0 || !isKnown) return () => false;
  const members = new Set(rules.map(({ propertyName }) => propertyName));
  const constraints = rules.flatMap((rule) => {
    const conditions = rules
      .filter(({ type, propertyName }) => type === CONDITION && propertyName === rule.propertyName)
      .map(({ constraints: [holds] }) => holds as Condition);
    return getMetadataStorage()
      .getTargetValidatorConstraints(rule.constraintCls)
      .map(({ instance }) => ({ ...rule, instance, conditions }));
  });
  return (object) =>
    Object.keys(object).every((name) => members.has(name)) &&
    constraints.every(({ propertyName: property, constraints: values, instance, conditions }) => {
      const value = object[property];
      if (!conditions.every((holds) => holds(object, value))) return true;
      const args = { value, constraints: values, targetName: '', object, property };
      const holds = instance.validate(value, args);
      // class-validator asks an asynchronous rule again, and reports its error.
      if (holds instanceof Promise) holds.catch(() => undefined);
      return holds === true;
    });
}
