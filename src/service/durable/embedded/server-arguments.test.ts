import { expect, it } from 'vitest';
import { serverArguments, serverEnvironment } from './server-arguments.ts';

it('runs the dev server headless on 127.0.0.1, in WAL mode, with the queues polled fast', () => {
  const args = serverArguments({ port: 7, databasePath: '/d/t.db', synchronous: 'full', logLevel: 'error' });

  expect(args.join(' ')).toBe(
    'server start-dev --headless --ip 127.0.0.1 --port 7 --db-filename /d/t.db --log-level error ' +
      '--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=FULL ' +
      '--dynamic-config-value history.transferProcessorMaxPollRPS=2000 ' +
      '--dynamic-config-value history.timerProcessorMaxPollRPS=2000 ' +
      '--dynamic-config-value history.visibilityProcessorMaxPollRPS=2000',
  );
});

it('names no file when nothing is persisted', () => {
  const args = serverArguments({ port: 7, databasePath: undefined, synchronous: 'normal', logLevel: 'warn' });

  expect(args).not.toContain('--db-filename');
  expect(args).toContain('synchronous=NORMAL');
});

it('hands no key and no TEMPORAL_ variable of the host to the server', () => {
  const env = serverEnvironment({
    PATH: '/bin',
    OPENAI_API_KEY: 'k',
    TEMPORAL_ADDRESS: 'x',
    NODE_OPTIONS: '-r y',
  });

  expect(env).toEqual({ PATH: '/bin' });
});
