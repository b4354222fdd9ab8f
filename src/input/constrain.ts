import { registerDecorator, ValidateIf, type ValidationArguments } from 'class-validator';

/**
 * A validation rule of class-validator.
 * @param expected completes the message "NAME must be ..."
 */
export function constrain<Whole extends object>(
  name: string,
  expected: string,
  holds: (value: unknown, whole: Whole) => boolean,
): PropertyDecorator {
  return (target, propertyName) => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyName as string,
      validator: {
        validate: (value: unknown, validation?: ValidationArguments) =>
          holds(value, validation!.object as Whole),
        defaultMessage: ({ property, value }: ValidationArguments) =>
          value === undefined ? `${property} is required` : `${property} must be ${expected}`,
      },
    });
  };
}

/** The member may be omitted. Unlike with `@IsOptional()`, `null` is validated. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}
