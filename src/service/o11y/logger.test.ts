import { describe, expect, it } from 'vitest';
import { HarnessError } from '../../core/base/index.ts';
import { createRedactor, MASK, Secret } from '../../core/security/index.ts';
import { createLogger, type LoggerOptions } from './index.ts';

function capture(options: Partial<LoggerOptions> = {}) {
  const written: string[] = [];
  const logger = createLogger({
    agent: 'desk',
    redactor: createRedactor(() => ({ version: 1, values: ['swordfish'] })),
    destination: { write: (text) => written.push(text) },
    ...options,
  });
  return { logger, written, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('JSON lines', () => {
  it('carry time, level, agent, message and fields', () => {
    const { logger, lines, written } = capture();
    logger.child({ task: 't-1', phase: 'pre' }).warn('turn failed', { phase: 'post', attempt: 2 });
    expect(lines()).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        agent: 'desk',
        task: 't-1',
        phase: 'post',
        attempt: 2,
        msg: 'turn failed',
      },
    ]);
    expect(written[0]).toMatch(/^[^\n]*\n$/);
  });

  it('below the level are not written', () => {
    const { logger, written } = capture({ level: 'warn' });
    logger.info('quiet');
    logger.debug('quiet');
    logger.error('loud');
    expect(written).toHaveLength(1);
  });

  it('hold no secret, wherever it came in', () => {
    const { logger, written } = capture();
    const cause = new Error('refused swordfish');
    const error = new HarnessError('internal', 'called with swordfish', { cause });
    logger.child({ swordfish: 1 }).error('key swordfish', {
      error,
      list: [{ deep: 'sk-abcdefghijklmnop' }],
      key: new Secret('swordfish'),
    });
    const text = written.join('');
    expect(text).not.toMatch(/swordfish|sk-abc/);
    expect(text).toContain(`called with ${MASK}`);
    expect(text).toContain(`refused ${MASK}`);
  });

  it('are written whatever the fields are', () => {
    const { logger, lines } = capture();
    const circular: Record<string, unknown> = { name: 'loop' };
    circular.self = circular;
    const hostile = {
      get trap(): string {
        throw new Error('no');
      },
    };
    logger.info('odd', {
      circular,
      hostile,
      big: 10n,
      none: undefined,
      run: () => 1,
      nan: Number.NaN,
      msg: 'mine',
    });
    expect(lines()[0]).toMatchObject({
      msg: 'odd',
      msg_: 'mine',
      circular: { name: 'loop', self: '[circular]' },
      hostile: '[unreadable]',
      big: '10',
      nan: 'NaN',
    });
  });
});

describe('readable lines', () => {
  it('read like a sentence with its fields', () => {
    const { logger, written } = capture({ format: 'pretty' });
    logger.info('task created', { task: 't-1', goal: 'two words' });
    expect(written.join('')).toMatch(
      /^\d\d:\d\d:\d\d info {2}desk {2}task created task=t-1 goal="two words"\n$/,
    );
  });

  it('put a stack below and show control characters', () => {
    const { logger, written } = capture({ format: 'pretty' });
    logger.error('failed', { error: new Error('boom \u001b[31m') });
    const text = written.join('');
    expect(text).toContain('error="boom \\u001b[31m"');
    expect(text).toMatch(/\n {4}Error: boom/);
    expect(text).not.toContain('\u001b');
  });
});
