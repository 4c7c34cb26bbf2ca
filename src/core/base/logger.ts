/** What a log line carries beside its message. Values are made JSON and redacted by the logger. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * The port for log lines. No method throws, whatever it is given; `message` is a constant sentence and what varies
 * goes into `fields`, so that lines can be grouped.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose every line carries `fields` too; a line's own field of the same name wins. */
  child(fields: LogFields): Logger;
}

/** Says nothing: for pure code and for tests that do not look at lines. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
