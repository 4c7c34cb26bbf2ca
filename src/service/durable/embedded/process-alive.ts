import { readFileSync } from 'node:fs';

/**
 * True when a process with this number runs, whoever owns it. One that has ended and was not collected yet does not:
 * in a container whose first process collects nothing it would stay for ever.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    // "<pid> (<name>) <state> ...": the name may hold anything, so the state is what follows the last parenthesis.
    return !/^\) [ZX]/.test(/\)[^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[0] ?? '');
  } catch {
    return true; // No /proc on this system, or it ended just now: the next look tells.
  }
}
