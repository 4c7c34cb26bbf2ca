import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startModelServer } from '../../src/testing/index.ts';
import { type Run, run, start } from '../cli/program.ts';
import { testFolder } from '../support/harness.ts';

type Replies = Parameters<typeof startModelServer>[0]['replies'];

/** A configuration with an embedded Temporal, for a model server of the test's own. */
export interface Place {
  readonly folder: string;
  readonly config: string;
  readonly store: string;
  readonly database: string;
  readonly model: Awaited<ReturnType<typeof startModelServer>>;
}

/** A `serve` that is ready. */
export interface Serving {
  readonly served: Run;
  readonly url: string;
  /** A `send` that runs; `--json` output. */
  send(text: string, ...more: string[]): Run;
}

/** Writes the configuration; `more` are further sections, `embedded` further keys of `[temporal.embedded]`. */
export async function place(
  replies: Replies,
  options: {
    readonly store?: string;
    readonly database?: string;
    readonly bind?: string;
    readonly embedded?: string;
    readonly more?: string;
  } = {},
): Promise<Place> {
  const model = await startModelServer({ replies });
  onTestFinished(() => model.close());
  const folder = testFolder();
  const store = options.store ?? join(folder, 'store', 'agent.db');
  const database = options.database ?? join(folder, 'temporal', 'temporal.db');
  const config = join(folder, 'agent.toml');
  writeFileSync(
    config,
    [
      `[agent]\nid = "emb-${randomUUID().slice(0, 8)}"\nconversation = "single"`,
      `[openai]\nbase_url = "${model.url}"\nmodel = "local-model"`,
      `[temporal]\nmode = "embedded"\nheartbeat_timeout = "2s"`,
      `[temporal.embedded]\ndatabase_path = "${database}"\n${options.embedded ?? ''}`,
      `[store]\nsqlite_path = "${store}"`,
      `[server]\nbind = "${options.bind ?? '127.0.0.1:0'}"`,
      options.more ?? '',
    ].join('\n'),
  );
  return { folder, config, store, database, model };
}

/** Starts `serve` and waits until it is ready. */
export async function serve({ config }: Place, ...args: string[]): Promise<Serving> {
  const served = start(['serve', '--config', config, ...args]);
  const [, url = ''] = await served.until(/^ready: agent \S+ at (\S+) .*$/m);
  return {
    served,
    url,
    send: (text, ...more) => start(['send', text, '--url', url, '--participant', 'ada', ...more]),
  };
}

/** The processes of the embedded server of a place. */
export function temporalOf({ database }: Place): {
  readonly server: number;
  readonly supervisor: number;
  readonly port: number;
} {
  const { serverPid, port } = JSON.parse(readFileSync(`${database}.owner`, 'utf8')) as Record<string, number>;
  const stat = readFileSync(`/proc/${serverPid}/stat`, 'utf8');
  return { server: serverPid ?? 0, supervisor: Number(stat.split(') ')[1]?.split(' ')[1]), port: port ?? 0 };
}

export { run };
