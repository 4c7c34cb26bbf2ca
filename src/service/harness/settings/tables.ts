/** A table as it was written, before any schema looked at it. */
export type Table = { [key: string]: unknown };

/** True for a plain object: not a list, a date or an instance of something. */
export function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** A copy of `layers` on top of each other: tables merge, anything else replaces, `undefined` says nothing. */
export function mergeTables(...layers: readonly (Table | undefined)[]): Table {
  // Without a prototype, a key named `__proto__` is a key like any other, and unknown.
  const merged = Object.create(null) as Table;
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      if (value === undefined) continue;
      const below = merged[key];
      merged[key] = isTable(value) ? mergeTables(isTable(below) ? below : undefined, value) : value;
    }
  }
  return merged;
}

/** What stands at a dotted key. */
export function valueAt(table: Table, key: string): unknown {
  let at: unknown = table;
  for (const part of key.split('.')) at = isTable(at) ? at[part] : undefined;
  return at;
}

/** The object without the keys that are `undefined`, as `exactOptionalPropertyTypes` wants it. */
export function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
type Defined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> };
