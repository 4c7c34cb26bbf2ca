/** What the budget allows of the figures; `--check` fails when one is over. */
const LIMITS: readonly {
  readonly figure: string;
  readonly path: readonly string[];
  readonly atMost: number;
}[] = [
  { figure: 'PF-1', path: [], atMost: 1.1 },
  { figure: 'PF-2', path: ['message'], atMost: 20 },
  { figure: 'PF-2', path: ['per_call'], atMost: 6 },
  { figure: 'PF-3', path: ['durable_p50'], atMost: 20 },
  { figure: 'PF-4', path: [], atMost: 1.1 },
  { figure: 'PF-5', path: ['heap_bytes_per_task'], atMost: 1024 },
  { figure: 'PF-5', path: ['resume_ratio'], atMost: 2 },
];

/** The figures that are over their limit, one line each. A figure that was not measured is not judged. */
export function overBudget(result: Readonly<Record<string, unknown>>): string[] {
  return LIMITS.flatMap(({ figure, path, atMost }) => {
    if (result[figure] === undefined) return [];
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], result[figure]);
    const ok = typeof value === 'number' && value <= atMost;
    return ok ? [] : [`${[figure, ...path].join('.')} is ${String(value)}, the budget is ${atMost}`];
  });
}
