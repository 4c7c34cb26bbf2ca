import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/**
 * Writes the configuration of an agent that belongs to a test: its folder gives it its id, and is where its store is.
 * Returns the path of the file.
 */
export function configFile(
  folder: string,
  model: { readonly url: string },
  options: {
    /** Default: the Temporal that the whole run shares. */
    readonly temporal?: 'shared' | 'embedded';
    /** Its name in the folder; the configuration lies beside it. */
    readonly store?: string;
    /** Further sections. */
    readonly more?: string;
  } = {},
): string {
  const { temporal = 'shared', store = 'store.db', more = '' } = options;
  const path = join(folder, `${store}.toml`);
  writeFileSync(
    path,
    `
[agent]
id = "t-${folder.slice(-6).toLowerCase()}"
[temporal]
${temporal === 'embedded' ? 'mode = "embedded"' : `address = "${inject('temporal')}"\nnamespace = "default"`}
heartbeat_timeout = "2s"
[openai]
base_url = "${model.url}"
model = "test"
[server]
bind = "127.0.0.1:0"
rate_limit_per_minute = 1000000
[store]
sqlite_path = "${join(folder, store)}"
${more}`,
  );
  return path;
}
