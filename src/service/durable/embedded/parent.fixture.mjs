/**
 * A harness's process for the signal tests: starts an embedded server, says so on stdout, and then does what it was
 * asked: `wait` (no handlers at all), `drain` (a handler that looks at the server and stops it), `exit`, or `throw`.
 */
import { connect } from 'node:net';
import { startEmbeddedTemporal } from './index.ts';

const { mode, ...options } = JSON.parse(process.argv[2] ?? '{}');
const server = await startEmbeddedTemporal(options).catch((error) => {
  process.stdout.write(`${JSON.stringify({ refused: error.message })}\n`);
  process.exit(1);
});
const { pid, supervisorPid, address } = server;

if (mode === 'drain') {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      const probe = connect(Number(address.split(':')[1]), '127.0.0.1');
      probe.once('connect', () => {
        process.stdout.write('still serving\n');
        probe.destroy();
        void server.stop().then(() => process.exit(0));
      });
    });
  }
}
process.stdout.write(`${JSON.stringify({ pid, supervisorPid, address })}\n`);
if (mode === 'exit') process.exit(0);
if (mode === 'throw') throw new Error('the host crashed');
if (mode !== 'idle') setInterval(() => {}, 60_000);
