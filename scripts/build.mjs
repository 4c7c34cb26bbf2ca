// Builds the package into dist/: compiled sources, the files they read, and the workflow bundle. Does nothing when
// dist/ is newer than every source; `--force` builds anyway. Runs on the Node that calls it.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const inputs = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
];

function newestInput() {
  let newest = Math.max(...inputs.map((file) => statSync(join(root, file)).mtimeMs));
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
    else newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return newest;
}

const newest = newestInput();
if (
  !process.argv.includes('--force') &&
  existsSync(stamp) &&
  Number(readFileSync(stamp, 'utf8')) === newest
) {
  process.exit(0);
}

const started = Date.now();
// Built beside dist/ and then put in its place: a failed build leaves the last good one.
const fresh = join(root, `.cache/dist-${process.pid}`);
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh], {
  cwd: root,
  stdio: 'inherit',
});
if (compiled.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  console.error('the build failed: the sources do not compile');
  process.exit(1);
}
for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && /\.(md|json)$/.test(entry.name))
    cpSync(path, join(fresh, relative(join(root, 'src'), path)));
}

const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
const { code } = await bundleWorkflowCode({
  workflowsPath: join(fresh, 'service/durable/workflows/index.js'),
  logger: new DefaultLogger('WARN'),
});
writeFileSync(join(fresh, 'workflow-bundle.js'), withoutPaths(code));
writeFileSync(join(fresh, '.built'), String(newest));
const old = `${fresh}-old`;
if (existsSync(dist)) renameSync(dist, old);
renameSync(fresh, dist);
rmSync(old, { recursive: true, force: true });
console.log(`built in ${((Date.now() - started) / 1000).toFixed(1)} s`);

/** Keeps the inline source map, which Temporal needs, and takes this machine's paths out of it. */
function withoutPaths(bundle) {
  const marker = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const at = bundle.lastIndexOf(marker);
  const strip = (text) =>
    text.replaceAll(relative(root, fresh), 'dist').replaceAll(`${root}/`, '').replaceAll(root, '');
  if (at < 0) return strip(bundle);
  const map = JSON.parse(Buffer.from(bundle.slice(at + marker.length), 'base64').toString('utf8'));
  map.sources = map.sources.map(strip);
  delete map.sourcesContent;
  return `${strip(bundle.slice(0, at))}${marker}${Buffer.from(JSON.stringify(map)).toString('base64')}`;
}
