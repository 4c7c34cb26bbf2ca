/**
 * A tools module whose every run of a tool, and every hook of admission, is a line in the file `LEDGER_FILE`: what
 * happened outside the harness, whoever was killed meanwhile.
 */
import { appendFileSync } from 'node:fs';
import type { HookChain } from '../../src/core/hooks/index.ts';
import type { Tool } from '../../src/core/tools/index.ts';

const note = (line: string): void => appendFileSync(process.env.LEDGER_FILE ?? '', `${line}\n`);

const tool = (name: string, annotations: Tool['annotations']): Tool => ({
  name: `ledger/${name}`,
  description: `To ${name} an order.`,
  inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  annotations,
  async run({ order }) {
    note(`${name} ${String(order)}`);
    return { text: `did ${name} ${String(order)}` };
  },
});

export default {
  tools: [tool('record', {}), tool('look', { readOnlyHint: true })],
  hooks(chain: HookChain): void {
    for (const point of ['request.received.pre', 'task.created.pre', 'task.created.post'] as const) {
      chain.on(point, () => note(point));
    }
  },
};
