/** `ada`, `ada or mara`, `ada, mara or wim`. */
export function eitherOf(names: readonly string[]): string {
  const last = names.at(-1) ?? 'nobody';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`;
}
