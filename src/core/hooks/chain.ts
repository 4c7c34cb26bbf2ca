import type { HookPoint, OperationName, OperationOf, Operations } from './operations.ts';

/** Who and what an operation is about; every context carries it (HK-5). */
export interface OperationScope {
  readonly agentId: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly participants: readonly {
    readonly id: string;
    readonly kind: 'human' | 'agent';
    readonly role: string;
  }[];
  /** The pluggable thing the operation is about: a tool, a model, ... */
  readonly entity?: { readonly kind: string; readonly id: string; readonly version: string | null };
  /** Ties the log lines and spans of one exchange together. */
  readonly correlationId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** What an executor of operation `O` gets and may return changed. `result` is set from the `in` phase on. */
export interface HookContext<O extends OperationName> {
  readonly operation: O;
  readonly scope: OperationScope;
  readonly input: Operations[O]['input'];
  readonly result?: Operations[O]['output'];
}

/**
 * One link of a chain. Returns the context for the next link, or nothing to pass it on as it is. Throws `HookAbort` to
 * cancel the operation. It runs in the process where the operation runs and may be run again when that attempt fails.
 */
export type HookExecutor<O extends OperationName> = (
  context: HookContext<O>,
  // biome-ignore lint/suspicious/noConfusingVoidType: an executor that only looks returns nothing
) => HookContext<O> | void | undefined | Promise<HookContext<O> | void | undefined>;

/** Masks the secrets in a value, and keeps what is no plain data as it is. */
export type Scrub = <T>(value: T) => T;

/** Where the built-in bodies sit in the order of a chain; a lower number runs first (HK-3). */
const DEFAULT_PRIORITY = 1000;

interface Link {
  readonly priority: number;
  readonly order: number;
  readonly execute: (context: HookContext<never>) => unknown;
}

/**
 * The executors of every hook point, run as ordered chains (HK-1, HK-3). Operations without executors cost one map
 * look-up.
 */
export class HookChain {
  readonly #links = new Map<string, Link[]>();
  #order = 0;
  #scrub: Scrub = (value) => value;

  /** From now on executors see and return nothing but what this leaves of a context (HK-8). */
  scrubWith(scrub: Scrub): void {
    this.#scrub = scrub;
  }

  /** Adds an executor; lower priorities run first, equal ones in the order they were added. Returns its removal. */
  on<P extends HookPoint>(
    point: P,
    execute: HookExecutor<OperationOf<P>>,
    options: { readonly priority?: number } = {},
  ): () => void {
    const links = this.#links.get(point) ?? [];
    const link: Link = {
      priority: options.priority ?? 500,
      order: this.#order++,
      execute: execute as unknown as Link['execute'],
    };
    links.push(link);
    links.sort((a, b) => a.priority - b.priority || a.order - b.order);
    this.#links.set(point, links);
    return () => {
      const at = links.indexOf(link);
      if (at >= 0) links.splice(at, 1);
    };
  }

  /** True when any of the points has an executor. */
  listens(...points: readonly HookPoint[]): boolean {
    return points.some((point) => (this.#links.get(point)?.length ?? 0) > 0);
  }

  /**
   * Runs one phase and returns the context the last link left. What an executor throws goes to the caller: a
   * `HookAbort` as it is, anything else as the failure of the operation.
   */
  async phase<O extends OperationName>(
    phase: 'pre' | 'in' | 'post',
    context: HookContext<O>,
  ): Promise<HookContext<O>> {
    const links = this.#links.get(`${context.operation}.${phase}`);
    if (links === undefined || links.length === 0) return context;
    let current = context;
    for (const link of [...links]) current = await this.#heard(link, current);
    return current;
  }

  /**
   * Runs an operation whole: `pre`, `in` with `body` at priority 1000, `save` of the result, `post`. A result that an
   * earlier attempt saved is passed as `saved`: then neither `pre` nor the body runs again (HK-11).
   */
  async run<O extends OperationName>(
    operation: O,
    scope: OperationScope,
    input: Operations[O]['input'],
    steps: {
      readonly body: (
        input: Operations[O]['input'],
      ) => Operations[O]['output'] | Promise<Operations[O]['output']>;
      readonly saved?: Operations[O]['output'] | undefined;
      readonly save?: (result: Operations[O]['output'], input: Operations[O]['input']) => Promise<void>;
    },
  ): Promise<Operations[O]['output']> {
    let context: HookContext<O> = { operation, scope, input };
    let result = steps.saved;
    if (result === undefined) {
      context = await this.phase('pre', context);
      result = (await this.inPhase(context, steps.body)).result as Operations[O]['output'];
      await steps.save?.(result, context.input);
    }
    context = await this.phase('post', { ...context, result });
    return context.result as Operations[O]['output'];
  }

  /** Runs the `in` phase alone, with `body` at priority 1000. The returned context has a result. */
  async inPhase<O extends OperationName>(
    context: HookContext<O>,
    body: (input: Operations[O]['input']) => Operations[O]['output'] | Promise<Operations[O]['output']>,
  ): Promise<HookContext<O>> {
    const links = this.#links.get(`${context.operation}.in`) ?? [];
    let current = context;
    let bodyRan = false;
    for (const link of [...links]) {
      if (!bodyRan && link.priority >= DEFAULT_PRIORITY) {
        current = await runBody(current, body);
        bodyRan = true;
      }
      current = await this.#heard(link, current);
    }
    return bodyRan ? current : runBody(current, body);
  }

  /** The context as one link leaves it: the same when it returns nothing, whatever was masked for it. */
  async #heard<O extends OperationName>(link: Link, context: HookContext<O>): Promise<HookContext<O>> {
    const returned = await link.execute(this.#scrub(context) as unknown as HookContext<never>);
    return returned === undefined || returned === null ? context : this.#scrub(returned as HookContext<O>);
  }
}

/** The default body: an executor before it that set `result` has replaced it. */
async function runBody<O extends OperationName>(
  context: HookContext<O>,
  body: (input: Operations[O]['input']) => Operations[O]['output'] | Promise<Operations[O]['output']>,
): Promise<HookContext<O>> {
  return context.result !== undefined ? context : { ...context, result: await body(context.input) };
}
