import { messageOf } from '../core/base/index.ts';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import { inertJson, inertLine } from '../interaction/terminal/index.ts';
import {
  type Check,
  type Finding,
  mcpChecks,
  modelCheck,
  portCheck,
  storeCheck,
  temporalCheck,
} from './checks.ts';
import { EXIT } from './exit-codes.ts';
import { settingsOf } from './settings.ts';

export interface DoctorOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * `tiny-harness doctor`: looks at everything a configuration needs and says what to do. Starts no server and writes
 * nothing to the store; MCP servers are asked for their tools, and the Temporal CLI is fetched when it is missing.
 */
export async function doctor(options: DoctorOptions, signal: AbortSignal): Promise<number> {
  const settings = settingsOf(options.config);
  const redactor = createRedactor(() => secretRegistry().snapshot());
  const checks: Check[] = [
    { name: 'configuration', look: async () => ({ level: 'ok', says: `agent ${settings.agent.id}` }) },
    ...settings.warnings.map(
      (says): Check => ({ name: 'configuration', look: async () => ({ level: 'warn', says }) }),
    ),
    modelCheck(settings),
    temporalCheck(settings, signal),
    storeCheck(settings),
    ...(await mcpChecks(settings, signal)),
    portCheck(settings),
  ];
  const found = await Promise.all(
    checks.map(async ({ name, look }) => {
      const finding = await look().catch(
        (error: unknown): Finding => ({ level: 'fail', says: messageOf(error) }),
      );
      return { check: name, level: finding.level, says: redactor.redactText(finding.says) };
    }),
  );
  signal.throwIfAborted();
  for (const finding of found) {
    const { level, check, says } = finding;
    process.stdout.write(
      options.json
        ? `${inertJson(JSON.stringify(finding))}\n`
        : `${level.padEnd(4)}  ${inertLine(`${check}: ${says}`)}\n`,
    );
  }
  return found.some(({ level }) => level === 'fail') ? EXIT.failure : EXIT.ok;
}
