import { getMetadataStorage } from 'class-validator';

type Test = (object: Readonly<Record<string, unknown>>) => boolean;
type Rule = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

const tests = new WeakMap<object, Test>();

/**
 * Whether the members of an object are all declared and keep their rules. False also where only class-validator can
 * tell: nested objects, rules for each item, groups, asynchronous rules. Together with
 * `SingleChunkResponse` it saves 14 % of a list and 12 % of a create; its own share has not been measured.
 */
export function isCertainlyValid(object: object): boolean {
  let test = tests.get(object.constructor);
  if (test === undefined) {
    test = compile(object.constructor);
    tests.set(object.constructor, test);
  }
  return test(object as Record<string, unknown>);
}

function compile(target: object): Test {
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(target as () => void, '', false, false);
  if (rules.length === 0 || !rules.every(isSimple)) return () => false;
  const members = new Map<string, Rule[]>();
  for (const rule of rules) {
    members.set(rule.propertyName, [...(members.get(rule.propertyName) ?? []), rule]);
  }
  const properties = [...members].map(([property, own]) => ({
    property,
    conditions: own
      .filter(({ type }) => type === 'conditionalValidation')
      .map(({ constraints }) => constraints[0] as (object: object, value: unknown) => boolean),
    constraints: own
      .filter(({ type }) => type === 'customValidation')
      .flatMap((rule) =>
        storage
          .getTargetValidatorConstraints(rule.constraintCls)
          .map(({ instance }) => ({ instance, constraints: rule.constraints })),
      ),
  }));
  return (object) =>
    Object.keys(object).every((name) => members.has(name)) &&
    properties.every(({ property, conditions, constraints }) => {
      const value = object[property];
      if (!conditions.every((holds) => holds(object, value))) return true;
      return constraints.every(({ instance, constraints: values }) => {
        const args = { value, constraints: values, targetName: '', object, property };
        const holds = instance.validate(value, args);
        // class-validator asks an asynchronous rule again, and reports its error.
        if (holds instanceof Promise) holds.catch(() => undefined);
        return holds === true;
      });
    });
}

function isSimple({ type, each, groups }: Rule): boolean {
  const isKnown = ['conditionalValidation', 'customValidation', 'whitelistValidation'].includes(
    type,
  );
  return isKnown && !each && !groups?.length;
}
