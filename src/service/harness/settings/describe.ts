import type { Settings } from './types.ts';

/** The values of every secret in `settings`, for the redactor. */
export function secretsOf(settings: Settings): string[] {
  return settings.secrets.map((secret) => secret.reveal());
}
