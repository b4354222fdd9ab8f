export type Environment = Readonly<Record<string, string | undefined>>;

/** The cures of frequent mistakes. */
const HINTS = [
  [/^tcp:/, '; Kubernetes sets it for a Service of that name: set enableServiceLinks to false'],
  [/:\/\/.*[#/?%,\s].*@/, '; in the password, write # as %23, / as %2F, ? as %3F, % as %25'],
] as const;

/** Reads one variable after the other and collects the faults. */
export class SettingReader {
  readonly faults: string[] = [];

  constructor(readonly environment: Environment) {}

  /** An empty variable counts as unset, as in a shell's `VAR= command`. */
  text(name: string): string | undefined {
    return this.environment[name]?.trim() || undefined;
  }

  integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const text = this.valid(
      name,
      `an integer between ${minimum} and ${maximum}`,
      (given) => /^\d{1,15}$/.test(given) && Number(given) >= minimum && Number(given) <= maximum,
    );
    return Number(text ?? fallback);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: NoInfer<T>): T {
    const text = this.valid(name, `one of ${allowed.join(', ')}`, (given) =>
      allowed.includes(given as T),
    );
    return (text as T | undefined) ?? fallback;
  }

  list(name: string, expected: string, isEntry: (entry: string) => boolean): string[] | undefined {
    const separator = /[\s,]+/;
    const text = this.valid(name, `${expected}, or several separated by commas`, (given) =>
      given.split(separator).every(isEntry),
    );
    return text?.split(separator);
  }

  /**
   * Returns the value if it is valid, and otherwise notes a fault. A URL may have a password, so
   * none is repeated.
   */
  valid(name: string, expected: string, isValid: (text: string) => boolean): string | undefined {
    const text = this.text(name);
    if (text === undefined || isValid(text)) return text;
    const given = text.includes('@') ? '' : `, not ${JSON.stringify(text)}`;
    const [, hint = ''] = HINTS.find(([form]) => form.test(text)) ?? [];
    this.faults.push(`${name} must be ${expected}${given}${hint}`);
    return undefined;
  }
}
