import { ConfigError } from '../../../core/base/index.ts';

/**
 * The path a harness is mounted under: a leading `/`, no trailing one, percent-encoded as in a request; empty for no
 * prefix (`/` counts as none).
 *
 * @throws ConfigError when it is no plain path
 */
export function normalizePrefix(prefix: string | undefined): string {
  const segments = (prefix ?? '').split('/').filter((segment) => segment !== '');
  if (segments.length === 0) return '';
  const path = `/${segments.join('/')}`;
  const url = new URL('http://host');
  url.pathname = path;
  const plain = !/[?#\\]|\s/.test(path) && !segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
  if (!plain) throw new ConfigError(`prefix: "${prefix}" is not a plain path such as /agents/a`);
  return url.pathname;
}

/**
 * The URL others reach this harness at, without a trailing slash (MT-4):
 *
 * | path of `baseUrl` | prefix | result |
 * |---|---|---|
 * | none | none | `baseUrl` |
 * | none | `/agents/a` | `baseUrl` + `/agents/a` |
 * | `/agents/a` | none or `/agents/a` | `baseUrl` |
 * | `/agents/a` | `/agents/b` | `ConfigError` that names both |
 *
 * @throws ConfigError
 */
export function publicUrl(baseUrl: string, prefix?: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    `${url.search}${url.hash}${url.username}` !== ''
  )
    throw new ConfigError('server.base_url: must be an http or https URL without user, query or fragment');
  const mount = normalizePrefix(prefix);
  const base = normalizePrefix(url.pathname);
  if (base !== '' && mount !== '' && base !== mount)
    throw new ConfigError(
      `server.base_url: its path "${base}" and the prefix "${mount}" differ; make them the same or drop one`,
    );
  return `${url.origin}${base === '' ? mount : base}`;
}
