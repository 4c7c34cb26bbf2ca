import type { LlmRequest } from '../../../core/models/index.ts';

const MAX_LENGTH = 64;

/**
 * Translates between the harness's tool names (`local/files.read`) and names a provider accepts
 * (`[a-zA-Z0-9_-]{1,64}`), for one request (TL-9).
 */
export interface ToolNames {
  /** The provider's spelling. A name the request did not contain gets one too, which stays its own. */
  toProvider(name: string): string;
  /** The harness's name. A spelling that nobody was given is returned as it is: the model made it up. */
  toHarness(spelling: string): string;
}

/**
 * Gives every tool of the request, and every name its history mentions, its own spelling. A pure function of the
 * names and their order: the same definitions always get the same spellings, whatever the history says, so the
 * cached prefix of the prompt stays the same from turn to turn.
 */
export function mapToolNames(request: Pick<LlmRequest, 'tools' | 'input'>): ToolNames {
  const spellings = new Map<string, string>();
  const names = new Map<string, string>();
  const claim = (name: string, spelling: string): string => {
    spellings.set(name, spelling);
    names.set(spelling, name);
    return spelling;
  };
  const spell = (name: string): string =>
    spellings.get(name) ??
    claim(
      name,
      firstFree(plain(name), (spelling) => names.has(spelling)),
    );

  const defined = request.tools.map((tool) => tool.name);
  // Names that need no change come first, so that `a_b` keeps its name when `a/b` is there too.
  for (const name of defined) if (plain(name) === name) claim(name, name);
  for (const name of defined) spell(name);
  for (const item of request.input) {
    if (item.type === 'assistant') for (const call of item.calls) spell(call.name);
  }
  return { toProvider: spell, toHarness: (spelling) => names.get(spelling) ?? spelling };
}

/** The nearest text a provider accepts as a name. Different names may give the same text. */
export function plain(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_LENGTH) || '_';
}

function firstFree(base: string, isTaken: (spelling: string) => boolean): string {
  let spelling = base;
  for (let n = 2; isTaken(spelling); n++) {
    const suffix = `_${n}`;
    spelling = base.slice(0, MAX_LENGTH - suffix.length) + suffix;
  }
  return spelling;
}
