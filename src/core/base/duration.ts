const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration in milliseconds, from seconds (`30`, `0.25`), a suffix form (`500ms`, `30s`, `5m`, `2h`, `7d`), ISO 8601
 * (`PT30S`, `P1DT2H`), `[N days ]HH:MM:SS` or `N days` (CF-2). Undefined when it is none of them or negative.
 */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) && value >= 0 ? Math.round(value * 1000) : undefined;
  const text = value.trim();
  const suffixed = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text);
  if (suffixed) return Math.round(Number(suffixed[1]) * (UNIT_MS[suffixed[2] ?? ''] ?? 0));
  const clock = /^(?:(\d+) days?,? )?(\d{1,3}):([0-5]\d):([0-5]\d(?:\.\d+)?)$/.exec(text);
  if (clock) {
    const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = clock;
    return sum(Number(days), Number(hours), Number(minutes), Number(seconds));
  }
  const days = /^(\d+) days?$/.exec(text);
  if (days) return sum(Number(days[1]), 0, 0, 0);
  const iso =
    /^P(?=.)(?:(\d+(?:\.\d+)?)D)?(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
      text,
    );
  if (iso) return sum(Number(iso[1] ?? 0), Number(iso[2] ?? 0), Number(iso[3] ?? 0), Number(iso[4] ?? 0));
  return undefined;
}

function sum(days: number, hours: number, minutes: number, seconds: number): number {
  return Math.round(((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000);
}
