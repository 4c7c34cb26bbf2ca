import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../support/harness.ts';
import { linesOf, processesAbout, run, start } from './program.ts';

/** Ledger lines, as the demo prints them. */
function ledger(output: string): unknown[] {
  return [...output.matchAll(/^Ledger: (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
}

describe('the demo', { timeout: 60_000 }, () => {
  it('plays a whole task and leaves nothing behind', async () => {
    const tmp = testFolder();
    const { code, stdout, stderr } = await run(['demo', '--once'], { env: { TMPDIR: tmp } });

    expect(code, stdout + stderr).toBe(0);
    expect(ledger(stdout)).toEqual([
      expect.objectContaining({ kind: 'replacement', order: 1042, sku: 'LAMP-7' }),
    ]);
    const [, end = ''] = stdout.split(/^Task .*: COMPLETED$/m);
    expect(linesOf(end).filter((line) => line.startsWith('  '))).toEqual([
      expect.stringContaining('[x] Find the order: Order 1042'),
      expect.stringContaining('[x] Check the stock: 3 in stock'),
      expect.stringContaining('[x] Agree on a remedy: mara chose the replacement'),
      expect.stringContaining('[x] Record the remedy: Ledger entry 1'),
    ]);
    expect(readdirSync(tmp)).toEqual([]);
    expect(processesAbout(tmp)).toEqual([]);
  });

  it('lets the person answer, and asks again when it did not understand', async () => {
    const { code, stdout } = await run(['demo', '--once', '--interactive'], {
      env: { TMPDIR: testFolder() },
      input: 'whatever you think\nthe refund, please\n',
    });
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('Please choose one of these: refund, replacement.');
    expect(ledger(stdout)).toEqual([expect.objectContaining({ kind: 'refund', amount: 89 })]);
  });

  it('fails in one line when the input ends before there is an answer', async () => {
    const tmp = testFolder();
    const { code, stderr } = await run(['demo', '--interactive'], { env: { TMPDIR: tmp } });
    expect([code, linesOf(stderr).at(-1)]).toEqual([1, expect.stringMatching(/input ended before/)]);
    expect(processesAbout(tmp)).toEqual([]);
  });

  it('stays up, takes another message, and ends on SIGTERM', async () => {
    const tmp = testFolder();
    const demo = start(['demo'], { env: { TMPDIR: tmp } });
    const [, url = ''] = await demo.until(/stays at (\S+) until Ctrl-C/);
    const flags = ['--url', url, '--participant', 'jonas'];

    const asked = await run(['send', 'Order 1041: one of the two mugs has no handle.', ...flags]);
    const [, task = ''] = /^task (\S+)$/m.exec(asked.stderr) ?? [];
    const answered = await run(['send', 'a refund then', '--task', task, ...flags]);

    expect(asked.stderr).toContain('sold out');
    expect([asked.code, answered.code]).toEqual([0, 0]);
    expect(answered.stdout).toContain('14.5 EUR go back to you for order 1041 (ledger entry 2)');
    demo.child.kill('SIGTERM');
    expect(await demo.ended).toBe(143);
    expect(readdirSync(tmp)).toEqual([]);
    expect(processesAbout(tmp)).toEqual([]);
  });

  it.each([
    { when: 'while it starts', pattern: /^A shop agent/m },
    { when: 'when the agent is up', pattern: /^agent shop at/m },
    { when: 'while the model writes', pattern: /Shop: I am/ },
    { when: 'at its end', pattern: /until Ctrl-C/ },
  ])('ends on SIGINT $when, with no process and no file left', async ({ pattern }) => {
    const tmp = testFolder();
    const demo = start(['demo'], { env: { TMPDIR: tmp } });
    await demo.until(pattern);
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(130);
    expect(demo.stderr).not.toMatch(/Error| {4}at /);
    expect(readdirSync(tmp)).toEqual([]);
    expect(processesAbout(tmp)).toEqual([]);
  });
});
