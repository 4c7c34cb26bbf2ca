/** The two halves of `host:port`, split at the last colon; undefined when it is not that. */
export function parseBind(bind: string): { readonly host: string; readonly port: number } | undefined {
  const [, host = '', digits = ''] = /^(.+):(\d{1,5})$/.exec(bind.trim()) ?? [];
  const port = Number(digits);
  return host === '' || port > 65535 ? undefined : { host: host.replace(/^\[(.*)\]$/, '$1'), port };
}

/** True for `localhost` and for the literal addresses of this machine; names are not resolved. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/** True for a bind to every interface, which is no address to reach anyone at. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '*';
}

/** `host:port` as it stands in a URL. */
export function authority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
