import { HarnessError } from '../base/index.ts';
import type { ToolDefinition } from '../models/index.ts';
import type { Tool } from './tool.ts';

/** The tools of one harness, by name. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  #definitions: readonly ToolDefinition[] | undefined;

  /**
   * Adds a tool. `override` replaces one of the same name.
   *
   * @throws HarnessError `plugin.invalid` when the name is taken.
   */
  register(tool: Tool, options: { readonly override?: boolean } = {}): void {
    if (this.#tools.has(tool.name) && options.override !== true)
      throw new HarnessError(
        'plugin.invalid',
        `the tool "${tool.name}" is registered already; pass override: true to replace it`,
        { details: { tool: tool.name } },
      );
    this.#tools.set(tool.name, tool);
    this.#definitions = undefined;
  }

  /** The tool of that name, or undefined: a call to an unknown tool is an answer to the model, not a failure (TL-3). */
  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Takes a tool away; false when there was none. */
  remove(name: string): boolean {
    this.#definitions = undefined;
    return this.#tools.delete(name);
  }

  /**
   * Every tool as the model sees it, sorted by name in code-unit order: the same tools always give the same prompt
   * prefix, whatever order they came in (TL-1, CW-2).
   */
  definitions(): readonly ToolDefinition[] {
    this.#definitions ??= [...this.#tools.values()]
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#definitions;
  }
}
