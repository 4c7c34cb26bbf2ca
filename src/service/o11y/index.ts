/**
 * What a harness tells its operator: log lines now, spans and metrics as they come. Everything passes the redactor
 * first; nothing in here may change what a task does.
 */
export { createLogger, type LogDestination, type LoggerOptions, type LogLevel } from './logger.ts';
