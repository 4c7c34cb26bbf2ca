/** What must be there before requests can be served. Each check resolves when it is, and rejects when it is not. */
export type ReadinessChecks = Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;

/** How long a part may take to show that it is there. */
const LIMIT_MS = 2_000;

/** `/healthz` and `/readyz` (OB-6): no identity needed, nothing told but names of parts. */
export class Health {
  readonly #checks: ReadinessChecks;
  readonly #limitMs: number;
  #running: Promise<Record<string, boolean>> | undefined;

  constructor(checks: ReadinessChecks, limitMs: number = LIMIT_MS) {
    this.#checks = checks;
    this.#limitMs = limitMs;
  }

  /** Answers these two paths; undefined for others. */
  async fetch(request: Request, path: string): Promise<Response | undefined> {
    if (path !== '/healthz' && path !== '/readyz') return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return Response.json({ error: 'use GET' }, { status: 405, headers: { allow: 'GET, HEAD' } });
    }
    const headers = { 'cache-control': 'no-store' };
    if (path === '/healthz') return Response.json({ status: 'ok' }, { headers });
    // However many ask, the parts are asked once at a time.
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    const parts = await this.#running;
    const ready = Object.values(parts).every(Boolean);
    return Response.json(
      { status: ready ? 'ready' : 'not ready', ...parts },
      { status: ready ? 200 : 503, headers },
    );
  }

  async #check(): Promise<Record<string, boolean>> {
    const parts = await Promise.all(
      Object.entries(this.#checks).map(async ([name, check]) => [name, await this.#passes(check)] as const),
    );
    return Object.fromEntries(parts);
  }

  async #passes(check: ReadinessChecks[string]): Promise<boolean> {
    const signal = AbortSignal.timeout(this.#limitMs);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    return Promise.race([check(signal), late]).then(
      () => true,
      () => false,
    );
  }
}
