import { z } from 'zod';
import { bool, duration, int, lenientBoolean, nonBlank, oneOf, path, text } from './values.ts';

const tlsTable = z.strictObject(
  {
    enabled: bool().optional(),
    server_name: nonBlank().optional(),
    ca_file: path().optional(),
    cert_file: path().optional(),
    key_file: path().optional(),
  },
  'must be true, false or a table',
);

/** `true`, `false`, or a table with a client certificate; the plain form is the table with `enabled`. */
const tlsSchema = z.preprocess((value) => {
  const enabled = lenientBoolean(value);
  return typeof enabled === 'boolean' ? { enabled } : value;
}, tlsTable) as unknown as z.ZodType<z.output<typeof tlsTable>, boolean | z.input<typeof tlsTable>>;

/** `[temporal.embedded]`. */
const embeddedSchema = z.strictObject({
  persist: bool().default(true),
  database_path: path().optional(),
  binary_path: path().optional(),
  download_url: nonBlank().optional(),
  download_sha256: text()
    .refine((value) => /^[0-9a-fA-F]{64}$/.test(value), 'must be 64 hexadecimal digits')
    .optional(),
  download_dir: path().optional(),
  port: int({ min: 1, max: 65535 }).optional(),
  synchronous: oneOf('full', 'normal').default('full'),
});

/** `[temporal]`. */
export const temporalSchema = z.strictObject({
  mode: oneOf('remote', 'embedded').optional(),
  address: nonBlank().optional(),
  namespace: nonBlank().optional(),
  api_key: text().optional(),
  task_queue: nonBlank().optional(),
  tls: tlsSchema.optional(),
  search_attributes: bool().default(false),
  heartbeat_timeout: duration(1000).default(30_000),
  max_cached_workflows: int({ min: 2 }).default(500),
  encryption_key: text().optional(),
  embedded: embeddedSchema.optional(),
});
