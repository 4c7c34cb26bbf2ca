import { readFileSync } from 'node:fs';

/** The default system prompt: markdown with one `##` section per subject (PS-1). */
export function loadSystemPrompt(): string {
  return readFileSync(new URL('./systemprompt.md', import.meta.url), 'utf8');
}
