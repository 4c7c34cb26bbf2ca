/** The file name of the CLI on this platform. */
export const CLI_NAME = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

/** What Temporal's own download calls this platform; undefined where it has no build. */
export function downloadPlatform(): { readonly platform: string; readonly arch: string } | undefined {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  return platform === undefined || arch === undefined ? undefined : { platform, arch };
}
