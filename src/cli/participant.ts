import { userInfo } from 'node:os';
import { ConfigError } from '../core/base/index.ts';

/**
 * Who speaks: the one named, else the user of this machine.
 *
 * @throws ConfigError for a name that cannot stand in a header, or when there is none.
 */
export function participantOf(named: string | undefined): string {
  const id = named ?? userName();
  if (/^[\x21-\x7e]+$/.test(id)) return id;
  const what = named === undefined ? `your user name "${id}"` : `"${id}"`;
  throw new ConfigError(
    `${what} is no participant id: it must be printable ASCII; give one with --participant`,
  );
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry, as containers have it.
    return '';
  }
}
