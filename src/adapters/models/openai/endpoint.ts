import { ConfigError } from '../../../core/base/index.ts';
import type { Secret } from '../../../core/security/index.ts';

/** Where requests go when no base URL is configured. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** A checked endpoint. */
export interface Endpoint {
  readonly baseUrl: string;
  /** `scheme://host[:port]`, for logs and messages. */
  readonly origin: string;
  /** False for every host but OpenAI's own. */
  readonly isOpenAi: boolean;
}

/**
 * Checks a base URL (MD-5): absolute http(s), no user-info, and no key over plain http unless the host is a literal
 * loopback one. Throws `ConfigError`.
 */
export function checkEndpoint(baseUrl: string, apiKey: Secret | undefined): Endpoint {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigError('the base URL of the model endpoint must be an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError(
      `the base URL of the model endpoint ${url.origin} must not contain a user name or password`,
    );
  }
  if (apiKey !== undefined && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new ConfigError(
      `the model endpoint ${url.origin} would get the API key over plain http; use https, a loopback address, or no key`,
    );
  }
  // The platform quotes an unusable header value, the key, in its error; so it is looked at here, and not quoted.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey.reveal())) {
    throw new ConfigError(
      `the API key for the model endpoint ${url.origin} is empty or has spaces, line ends or characters outside ASCII`,
    );
  }
  return { baseUrl, origin: url.origin, isOpenAi: url.origin === new URL(OPENAI_BASE_URL).origin };
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

const PASSED_HEADERS = ['accept', 'content-type', 'user-agent'];

/**
 * A fetch that sends what MD-5 allows and nothing else, whatever the SDK reads from the environment
 * (`OPENAI_CUSTOM_HEADERS`, for one): three plain headers, the key when there is one, and no redirect followed.
 */
export function guardedFetch(apiKey: Secret | undefined, send: typeof fetch | undefined): typeof fetch {
  return (input, init) => {
    const given = new Headers(init?.headers);
    const headers = new Headers();
    for (const name of PASSED_HEADERS) {
      const value = given.get(name);
      if (value !== null) headers.set(name, value);
    }
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey.reveal()}`);
    return (send ?? fetch)(input, { ...init, headers, redirect: 'manual' });
  };
}
