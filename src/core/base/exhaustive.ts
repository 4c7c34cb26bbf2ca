/** For the `default` of a switch over a union: a new member that nobody handles becomes a type error. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`);
}
