import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../support/harness.ts';
import { freePort, linesOf, run } from './program.ts';

/** A configuration file; returns its path. */
function configFile(folder: string, text: string): string {
  const path = join(folder, 'agent.toml');
  writeFileSync(path, text);
  return path;
}

const MODEL = '[openai]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n';

describe('without a command', () => {
  it('prints the help', async () => {
    const { code, stdout, stderr } = await run([]);
    expect([code, stderr]).toEqual([0, '']);
    for (const command of ['serve', 'worker', 'send', 'demo', 'config', 'temporal'])
      expect(stdout).toContain(`  ${command} `);
  });

  it('prints the version', async () => {
    const { code, stdout } = await run(['--version']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});

describe('one line and exit code 2', () => {
  it.each([
    { args: ['nonsense'], says: /unknown command 'nonsense'/ },
    { args: ['serve', '--nope'], says: /unknown option '--nope'/ },
    { args: ['send'], says: /missing required argument 'text'/ },
    { args: ['send', ' '], says: /the message is empty/ },
    { args: ['send', 'hi', '--participant', 'möve'], says: /printable ASCII/ },
    { args: ['send', 'hi', '--participant', 'a\u001b[31m'], says: /"a\\u001b\[31m" is no participant id/ },
    { args: ['send', 'hi', '--reply-to', 'x'], says: /--reply-to needs --task/ },
    { args: ['send', 'hi', '--url', 'ftp://x'], says: /"ftp:\/\/x" is no http or https URL/ },
    { args: ['serve'], says: /there is no configuration at .*write one/ },
    { args: ['serve', '--config', 'none.toml'], says: /none\.toml: there is no such configuration file/ },
    { args: ['demo', '--bind', 'x'], says: /server\.bind: must be host:port/ },
  ])('for $args', async ({ args, says }) => {
    const { code, stderr } = await run(args, { cwd: testFolder() });
    expect(linesOf(stderr)).toEqual([expect.stringMatching(says)]);
    expect(stderr).toMatch(/^tiny-harness: /);
    expect(code).toBe(2);
  });

  it('for an unknown key of the configuration, with the nearest one', async () => {
    const config = configFile(testFolder(), `${MODEL}[server]\nbnd = "127.0.0.1:0"\n`);
    const { code, stderr } = await run(['serve', '--config', config]);
    expect([code, linesOf(stderr)]).toEqual([
      2,
      [expect.stringMatching(/unknown key server\.bnd.*server\.bind/)],
    ]);
  });

  it('for a configuration without a model', async () => {
    const config = configFile(testFolder(), '[agent]\nid = "desk"\n');
    const { code, stderr } = await run(['serve', '--config', config]);
    expect([code, linesOf(stderr)]).toEqual([
      2,
      [expect.stringMatching(/no model is configured: set OPENAI_API_KEY .*write an \[openai\]/)],
    ]);
  });

  it('for a tools module that is none', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'tools.mjs'), 'export default { name: "x" };');
    const config = configFile(folder, MODEL);
    const { code, stderr } = await run(['serve', '--config', config, '--tools', 'tools.mjs'], {
      cwd: folder,
    });
    expect([code, linesOf(stderr)]).toEqual([
      2,
      [expect.stringMatching(/--tools tools\.mjs: its default export/)],
    ]);
  });

  it('for a port that is taken, before anything else starts', async () => {
    const folder = testFolder();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const config = configFile(folder, `${MODEL}[store]\nsqlite_path = "${join(folder, 's.db')}"\n`);
    const { code, stderr } = await run(['serve', '--config', config, '--bind', `127.0.0.1:${port}`]);
    taken.close();
    expect([code, linesOf(stderr)]).toEqual([
      2,
      [expect.stringMatching(`cannot listen on 127.0.0.1:${port}: .*EADDRINUSE.*free port`)],
    ]);
  });
});

describe('errors', () => {
  it('of an address where nothing listens are one line that says what to start', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await run(['send', 'hi', '--url', url, '--participant', 'ada']);
    expect([code, linesOf(stderr)]).toEqual([
      1,
      [expect.stringMatching(/nothing listens at .*tiny-harness serve/)],
    ]);
  });

  it('have a stack with --debug alone', async () => {
    const plain = await run(['serve', '--config', 'none.toml']);
    const debug = await run(['serve', '--config', 'none.toml', '--debug']);
    expect(plain.stderr).not.toContain('    at ');
    expect(debug.stderr).toContain('    at ');
  });
});

describe('config', () => {
  it('shows the resolved settings of the own file, secrets masked', async () => {
    const home = testFolder();
    mkdirSync(join(home, '.tiny-harness'));
    writeFileSync(join(home, '.tiny-harness', 'config.toml'), MODEL);
    const env = { HOME: home, OPENAI_API_KEY: 'marker-3f9c1d' };

    const plain = await run(['config'], { env });
    const json = await run(['config', '--json'], { env });

    expect(plain.stdout).toContain('base_url = "http://127.0.0.1:9/v1"');
    expect(JSON.parse(json.stdout)).toMatchObject({ openai: { model: 'm', api_key: '[secret]' } });
    expect(plain.output + json.output).not.toContain('marker-3f9c1d');
  });
});

describe('temporal install', () => {
  it('says where the CLI is, and does nothing the second time', async () => {
    await run(['temporal', 'install']);
    const { code, stdout, stderr } = await run(['temporal', 'install']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Temporal CLI \d+\.\d+\.\d+: \S+ \((cache|path)\)\n$/),
    ]);
    expect(stderr).not.toContain('trying');
  });
});
