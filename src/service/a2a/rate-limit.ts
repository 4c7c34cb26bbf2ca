/** How many peers are remembered; the one not seen for longest is forgotten first. */
const MAX_PEERS = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A token bucket for each peer address: a minute's requests may come at once, then they come in at the pace of the
 * limit (AS-12).
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `now` in milliseconds, of any clock that does not run backwards. */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Takes one request of this peer. Returns 0, or how many seconds to wait before the next is taken. */
  take(peer: string): number {
    const key = networkOf(peer);
    const now = this.#now();
    const known = this.#buckets.get(key) ?? { tokens: this.#perMinute, at: now };
    const tokens = Math.min(this.#perMinute, known.tokens + ((now - known.at) * this.#perMinute) / 60_000);
    const taken = tokens >= 1;
    // Set anew, so that the map stays in the order of the last request.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: taken ? tokens - 1 : tokens, at: now });
    this.#forget();
    return taken ? 0 : Math.ceil(((1 - tokens) * 60) / this.#perMinute);
  }

  #forget(): void {
    const [oldest] = this.#buckets.size > MAX_PEERS ? this.#buckets.keys() : [];
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/** An IPv4 address; of an IPv6 one its first 64 bits, since a host has all of the rest. */
function networkOf(peer: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(peer)?.[1];
  if (mapped !== undefined || !peer.includes(':')) return mapped ?? peer;
  const [head = '', tail] = (peer.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array.from({ length: gap }, () => '0'), ...right].slice(0, 4).join(':');
}
