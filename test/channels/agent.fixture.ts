/**
 * An agent in a process of its own that also speaks over a medium: `node agent.fixture.ts <settings> <outbox>`. Every
 * message that the medium is given is a line of JSON in the file `outbox`, whoever is killed afterwards; with
 * `DIES_AFTER_SENDING` the process is, at once. Says `ready: <url>` when it answers.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { Harness, parseSettings } from '../../src/exports/index.ts';
import { PulledMedium } from '../../src/testing/index.ts';

const [, , settings = '', outbox = ''] = process.argv;

class Recording extends PulledMedium {
  override async send(...[message, task]: Parameters<PulledMedium['send']>): Promise<void> {
    appendFileSync(outbox, `${JSON.stringify({ id: message.id, text: message.text, to: message.to })}\n`);
    if (process.env.DIES_AFTER_SENDING) process.kill(process.pid, 'SIGKILL');
    await super.send(message, task);
  }
}

const harness = new Harness(parseSettings(JSON.parse(readFileSync(settings, 'utf8'))), {
  media: [new Recording()],
});
const { origin } = await harness.listen();
process.once('SIGTERM', () => void harness.stop());
await harness.start();
console.log(`ready: ${origin}/`);
