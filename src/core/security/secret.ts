/** A secret that does not print: logs, JSON and string conversions show `[secret]` (SE-1). `reveal()` gives the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it only where it leaves for the service it is for. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  get [Symbol.toStringTag](): string {
    return 'secret';
  }
}
