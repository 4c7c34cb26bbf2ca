import { z } from 'zod';
import { parseBind } from '../hosts.ts';
import { anyTable, bool, duration, httpUrl, int, nonBlank, parseUrl, path, text, texts } from './values.ts';

/** `[server]`. */
export const serverSchema = z.strictObject({
  bind: text()
    .refine((bind) => parseBind(bind) !== undefined, 'must be host:port, with a port from 0 to 65535')
    .default('127.0.0.1:8080'),
  base_url: httpUrl()
    .refine((value) => {
      const url = parseUrl(value);
      return url === undefined || `${url.username}${url.password}${url.search}${url.hash}` === '';
    }, 'must not hold a user, a query or a fragment')
    .optional(),
  grpc_bind: nonBlank().optional(),
  legacy: bool().default(false),
  auth: anyTable().optional(),
  trusted_proxies: texts().default([]),
  default_participant: nonBlank().optional(),
  idempotency: bool().default(true),
  delegators: texts().default([]),
  max_request_bytes: int({ min: 1 }).default(1_048_576),
  rate_limit_per_minute: int({ min: 1 }).default(120),
  max_running_tasks_per_caller: int({ min: 1 }).default(100),
  bridge_interval: duration().optional(),
  cors_origins: texts().default([]),
  allowed_hosts: texts().default([]),
  ui: bool().optional(),
  ui_dir: path().optional(),
  public: bool().optional(),
});

/** `[store]`. */
export const storeSchema = z
  .strictObject({ sqlite_path: path().optional(), postgres_url: text().optional() })
  .refine((store) => store.sqlite_path === undefined || store.postgres_url === undefined, {
    path: ['postgres_url'],
    message: 'give this or store.sqlite_path, not both',
  });
