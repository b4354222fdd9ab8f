import { ValidateBy, ValidateIf } from 'class-validator';

/**
 * Creates a validation rule of class-validator.
 * @param expected completes the message "NAME must be ..."
 */
export function constrain<Whole extends object>(
  name: string,
  expected: string,
  holds: (value: unknown, whole: Whole) => boolean,
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (value: unknown, validation) => holds(value, validation!.object as Whole),
      defaultMessage: (validation) =>
        validation!.value === undefined
          ? `${validation!.property} is required`
          : `${validation!.property} must be ${expected}`,
    },
  });
}

/** The member may be omitted. Unlike with `@IsOptional()`, `null` is validated. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}
