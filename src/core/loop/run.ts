import { adoptSpawn } from './calls.ts';
import { type CutSource, runExchange } from './exchange.ts';
import { drain, expireQuestions } from './mailbox.ts';
import type { LoopPort } from './port.ts';
import type { CarriedState, MailItem } from './state.ts';
import { commitCanceled, complete, isOutdated, rest, restWithQuestions } from './status.ts';

/*
 * Invariants (numbered as in the durable design; tests name them)
 * 1. Effects are keyed by (task, exchange, turn, call): a repeated one finds what is stored.
 * 3. A state change is decided here and recorded by a commit. The first terminal state wins, and the loop adopts it.
 * 4. A decision to park or end is adopted only while the mailbox is empty; from then to its commit the inbox is closed.
 * 5. What an effect needs and is not in its input it reads from the store.
 */

/** Why `runTask` returned: the task ended, or its state is to be carried over to a fresh run. */
export type RunEnd = 'ended' | 'carry_over';

/**
 * Runs a task to its end: waits for messages, runs exchanges, commits what comes of them. Pure: everything that
 * happens outside goes through `port`, and all it knows is in `state`.
 */
export async function runTask(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<RunEnd> {
  let leave: () => void = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const commands = runCommands(state, port, left);
  const end = await runConversation(state, port, cuts);
  leave();
  await commands;
  return end;
}

async function runConversation(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<RunEnd> {
  while (state.phase !== 'ended') {
    await port.until(() => isDue(state) || isOutdated(state), nextExpiry(state));
    expireQuestions(state, port.now());
    if (!isDue(state)) {
      if (isOutdated(state)) await restWithQuestions(state, port);
      continue;
    }
    if (state.cancelRequestedBy !== null && state.mailbox.length === 0 && state.phase !== 'working') {
      await commitCanceled(state, port, []);
      continue;
    }
    // Carried over with the message in the mailbox: an idle task is left alone, and nothing arrives in between.
    if (port.shouldCarryOver()) return 'carry_over';
    if (state.worker === 'agent') await runExchange(state, port, cuts);
    else await askForWork(state, port);
    if (state.phase === 'working') return 'carry_over';
  }
  return 'ended';
}

function isDue(state: CarriedState): boolean {
  return state.phase === 'working' || state.mailbox.length > 0 || state.cancelRequestedBy !== null;
}

/** When the next open question of this task's own is over. */
function nextExpiry(state: CarriedState): number | undefined {
  const times = state.questions.flatMap(({ origin, expiresAt }) => (origin || !expiresAt ? [] : [expiresAt]));
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * An exchange of a task that was given to a participant (PC-6): the brief asks them, and the first message of theirs
 * that is accepted completes it.
 */
async function askForWork(state: CarriedState, port: LoopPort): Promise<void> {
  state.phase = 'working';
  state.exchange += 1;
  state.turn = 0;
  state.actors = [];
  state.drained.push(...drain(state));
  if (state.cancelRequestedBy !== null) return commitCanceled(state, port, []);
  const messages = state.drained.flatMap((each) => (each.type === 'message' ? [each.item] : []));
  state.done = messages.map(({ key }) => key);
  const control = messages.find((item) => item.control === 'complete');
  if (control) return complete(state, port, { from: 'completed_by', participantId: control.sender });
  const answer = messages.find((item) => item.sender !== state.agentId);
  if (answer) return complete(state, port, { from: 'message', key: answer.key });
  return rest(state, port, { from: 'goal' });
}

/** Runs slash commands one after the other, beside the conversation, until the task ends or is carried over. */
async function runCommands(state: CarriedState, port: LoopPort, left: Promise<void>): Promise<void> {
  for (;;) {
    await Promise.race([port.until(() => state.commands.length > 0), left]);
    const [command] = state.commands;
    if (command === undefined || state.phase === 'ended') return;
    const run = commandRun(state, command);
    const outcome = await port.runCommand(run);
    if (outcome.kind === 'failed') {
      const { code, message } = outcome;
      await port.runCommand({ ...run, failure: { code, message } });
    }
    adoptSpawn(state, outcome);
    state.commands.shift();
  }
}

function commandRun(state: CarriedState, { key }: MailItem) {
  return {
    taskId: state.taskId,
    storeId: state.storeId,
    key,
    exchange: state.exchange,
    openQuestions: state.questions.map(({ id }) => id),
  };
}
