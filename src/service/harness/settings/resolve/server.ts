import { authority, isLoopbackHost, isWildcardHost, parseBind } from '../hosts.ts';
import { defined } from '../tables.ts';
import type { ServerSettings } from '../types.ts';
import type { Scope } from './scope.ts';

/** `[server]`, with the rules for a bind that others can reach (PC-9, SE-6). */
export function resolveServer(scope: Scope): ServerSettings {
  const { server } = scope.file;
  const problems = scope.problems('server');
  const { host, port } = parseBind(server.bind) ?? { host: '127.0.0.1', port: 8080 };
  if (!isLoopbackHost(host)) {
    if (server.default_participant !== undefined)
      problems.add(
        'server.default_participant',
        `only with a loopback server.bind, since ${server.bind} lets others act as that participant`,
      );
    if (server.public === false)
      problems.add('server.public', `is false, yet server.bind = "${server.bind}" is not a loopback address`);
    else if (server.public === undefined)
      scope.warnings.push(
        `server.bind = "${server.bind}" is reachable from outside and nothing here authenticates: a perimeter must (set server.public = true when one does)`,
      );
  }
  const baseUrlFromBind = server.base_url === undefined;
  if (baseUrlFromBind && isWildcardHost(host))
    scope.warnings.push(
      'server.base_url is not set and server.bind is every interface: the card will name 127.0.0.1, where only this machine finds it',
    );
  if (server.bridge_interval !== undefined) scope.idle.push('server.bridge_interval');
  return {
    bindHost: host,
    bindPort: port,
    baseUrl: server.base_url ?? `http://${authority(isWildcardHost(host) ? '127.0.0.1' : host, port)}`,
    baseUrlFromBind,
    delegators: server.delegators,
    idempotency: server.idempotency,
    maxRequestBytes: server.max_request_bytes,
    rateLimitPerMinute: server.rate_limit_per_minute,
    maxRunningTasksPerCaller: server.max_running_tasks_per_caller,
    corsOrigins: server.cors_origins,
    allowedHosts: server.allowed_hosts,
    trustedProxies: server.trusted_proxies,
    ...defined({
      defaultParticipant: server.default_participant,
      pushKey: scope.secrets['server.push_key'],
    }),
  };
}
