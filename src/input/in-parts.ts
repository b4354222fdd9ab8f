import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';

type Members = Readonly<Record<string, unknown>>;

/** What a member seems to be that is left as it is. */
const METHOD = (): void => undefined;

/**
 * Has class-transformer make parts of an instance. For each member it reads what was sent, and then leaves alone
 * what is a method: so a class whose members seem to be methods tells by what names they are read, and one of which
 * some do is made of the others, while nothing that a guest has written for those is run.
 */
export class InParts {
  private readonly observed: Type<object>;
  /** Whether a member is left alone. */
  private isLeft: (member: string) => boolean = () => true;
  private made: object | undefined;

  /** @param members those that have a rule */
  constructor(
    private readonly type: Type<object>,
    private readonly members: ReadonlySet<string>,
  ) {
    // One for all times: class-transformer keeps what it finds out about a class.
    this.observed = observedBy(type, (made) => this.observe(made));
  }

  private observe(made: object): object {
    this.made = made;
    return new Proxy(made, {
      get: (target, key) =>
        this.members.has(key as string) && this.isLeft(key as string)
          ? METHOD
          : (Reflect.get(target, key) as unknown),
    });
  }

  /** By what name each member is sent that `@Expose()` has read whether it was sent or not. */
  names(): ReadonlyMap<string, string> {
    const names = new Map<string, string>();
    let name: string | undefined;
    const sent = new Proxy(
      {},
      {
        get: (_target, key) => {
          name = String(key);
          return undefined;
        },
      },
    );
    this.isLeft = (member) => {
      if (name !== undefined) names.set(member, name);
      return true;
    };
    plainToInstance(this.observed, sent);
    return names;
  }

  /** What is made of `sent` but for the members of which `isLeft` holds. */
  make(sent: Members, isLeft: (member: string) => boolean): object {
    this.isLeft = isLeft;
    plainToInstance(this.observed, sent);
    return Object.setPrototypeOf(this.made!, this.type.prototype as object) as object;
  }

  /** The members of which nothing can be made, of what was sent for them or of nothing. */
  unmakeable(sent: Members): string[] {
    return [...this.members].filter((only) => {
      try {
        this.make(sent, (member) => member !== only);
        return false;
      } catch {
        return true;
      }
    });
  }
}

function observedBy(type: Type<object>, observe: (made: object) => object): Type<object> {
  return class extends type {
    constructor() {
      super();
      return observe(this);
    }
  };
}
