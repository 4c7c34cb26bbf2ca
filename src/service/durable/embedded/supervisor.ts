/**
 * A program of its own, run as `node supervisor <job>`: it runs the dev server and outlives the harness by as much as
 * it takes to stop it. Imports only what Node has, so that it starts at once from source and from `dist` alike.
 *
 * 1. The server is stopped when the channel to the harness closes, whatever closed it: a normal end, a signal with or
 *    without a handler, SIGKILL. The harness needs no exit handler, and there is none to forget.
 * 2. SIGINT of a terminal does not reach the server: it leads its own process group, and the harness drains first.
 * 3. The supervisor ends only after the server has.
 * 4. Every file the server makes is 0600: the umask is set here, where it is nobody else's.
 */
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import type { ServerOwner, SupervisorJob, SupervisorMessage } from './supervisor-protocol.ts';

const job = JSON.parse(process.argv[2] ?? '') as SupervisorJob;

function say(message: SupervisorMessage, then: () => void = () => {}): void {
  if (process.connected && process.send) process.send(message, () => then());
  else then();
}

function supervise(): void {
  process.umask(0o077);
  const server = spawn(job.command, job.args, { stdio: ['ignore', 'inherit', 'inherit'], windowsHide: true });
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    server.kill('SIGTERM');
    // With nothing persisted there is nothing that a graceful stop would save.
    setTimeout(() => server.kill('SIGKILL'), job.ownerFile === undefined ? 0 : job.graceMs);
  };
  const end = (message: SupervisorMessage, code: number): void => {
    if (job.ownerFile !== undefined) rmSync(job.ownerFile, { force: true });
    say(message, () => process.exit(code));
  };
  server.on('spawn', () => {
    const serverPid = server.pid ?? 0;
    const owner: ServerOwner = { harnessPid: job.harnessPid, serverPid, port: job.port };
    if (job.ownerFile !== undefined) writeFileSync(job.ownerFile, JSON.stringify(owner), { mode: 0o600 });
    say({ kind: 'spawned', pid: serverPid });
  });
  server.on('error', (error) => end({ kind: 'failed', reason: error.message }, 1));
  server.on('exit', (code, signal) => end({ kind: 'exited', code, signal }, 0));

  process.on('message', (message) => {
    if (message === 'stop') stop();
  });
  process.on('disconnect', stop);
  process.on('SIGTERM', stop);
  process.on('SIGHUP', stop);
  process.on('SIGINT', stop);
}

// The harness may have been killed before this program was loaded: then no 'disconnect' would come any more.
if (process.connected) supervise();
