export type Environment = Readonly<Record<string, string | undefined>>;

/** The cures of frequent mistakes. */
const HINTS: readonly (readonly [form: RegExp, hint: string])[] = [
  [/^tcp:/, '; Kubernetes sets it for a Service of that name: set enableServiceLinks to false'],
  [/:\/\/.*[#/?%,\s].*@/, '; in the password, write # as %23, / as %2F, ? as %3F, % as %25'],
];

/** Reads one variable after the other and collects the faults. */
export class SettingReader {
  readonly faults: string[] = [];

  constructor(readonly environment: Environment) {}

  /** An empty variable counts as unset, as in a shell's `VAR= command`. */
  text(name: string): string | undefined {
    return this.environment[name]?.trim() || undefined;
  }

  integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const isInRange = (text: string): boolean =>
      /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
    const text = this.valid(name, `an integer between ${minimum} and ${maximum}`, isInRange);
    return Number(text ?? fallback);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: NoInfer<T>): T {
    const isAllowed = (text: string): boolean => allowed.includes(text as T);
    const text = this.valid(name, `one of ${allowed.join(', ')}`, isAllowed);
    return (text as T | undefined) ?? fallback;
  }

  list(name: string, expected: string, isEntry: (entry: string) => boolean): string[] | undefined {
    const entries = (text: string): string[] => text.split(/[\s,]+/);
    const isList = (text: string): boolean => entries(text).every(isEntry);
    const text = this.valid(name, `${expected}, or several separated by commas`, isList);
    return text === undefined ? undefined : entries(text);
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
