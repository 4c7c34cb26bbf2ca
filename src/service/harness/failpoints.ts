import { ConfigError, FAILPOINTS, type Failpoint, type PassFailpoint } from '../../core/base/index.ts';

const VARIABLE = 'TINY_HARNESS_FAILPOINT';

/**
 * The failpoints of this process. `TINY_HARNESS_FAILPOINT=<name>[:<n>]` kills it, as SIGKILL does, the n-th time that
 * point is passed (the first by default); without the variable nothing happens.
 *
 * @throws ConfigError for a name that is no failpoint.
 */
export function createFailpoints(env: NodeJS.ProcessEnv): PassFailpoint {
  const armed = env[VARIABLE];
  if (armed === undefined || armed === '') return () => {};
  const [name = '', times = '1'] = armed.split(':');
  if (!isFailpoint(name))
    throw new ConfigError(`${VARIABLE}: "${name}" is no failpoint; there are ${FAILPOINTS.join(', ')}`);
  let left = Number(times);
  return (point) => {
    if (point !== name) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

function isFailpoint(name: string): name is Failpoint {
  return (FAILPOINTS as readonly string[]).includes(name);
}
