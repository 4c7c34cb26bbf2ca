import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { HarnessError } from '../../../core/base/index.ts';
import {
  assertOpen,
  type ChildReport,
  type CutSource,
  type MailItem,
  type Receipt,
  receive,
  receiveReport,
  runTask,
} from '../../../core/loop/index.ts';
import {
  CANCEL_SIGNAL,
  INBOX_UPDATE,
  MONITOR_QUERY,
  type Monitor,
  REPORT_SIGNAL,
  type TaskStart,
} from '../contract/index.ts';
import { createPort } from './port.ts';

const inbox = defineUpdate<Receipt, [MailItem]>(INBOX_UPDATE);
const cancel = defineSignal<[string]>(CANCEL_SIGNAL);
const report = defineSignal<[ChildReport]>(REPORT_SIGNAL);
const monitor = defineQuery<Monitor>(MONITOR_QUERY);

/** One task, from its first message to its end. Its id is the task's id; its state is what continue-as-new carries. */
export async function TaskWorkflow(start: TaskStart): Promise<void> {
  const { state } = start;
  const cuts: CutSource = { cut: null };

  // Handlers are set before the first await, so that a message in the first activation finds them (DU-2).
  setHandler(
    inbox,
    (item) => {
      const receipt = receive(state, item);
      if (receipt.accepted && !receipt.duplicate && (item.control !== undefined || item.interrupt === true))
        cuts.cut?.('interrupt');
      return receipt;
    },
    {
      validator(item) {
        try {
          assertOpen(state, item);
        } catch (error) {
          throw error instanceof HarnessError
            ? ApplicationFailure.nonRetryable(error.message, error.code)
            : error;
        }
      },
    },
  );
  const requestCancel = (by: string) => {
    state.cancelRequestedBy ??= by;
    cuts.cut?.('cancel');
  };
  setHandler(cancel, requestCancel);
  setHandler(report, (news) => receiveReport(state, news));
  setHandler(monitor, () => ({
    phase: state.phase,
    state: state.state,
    exchange: state.exchange,
    turn: state.turn,
    mailbox: state.mailbox.length,
    openQuestions: state.questions.length,
  }));
  // A cancel from Temporal's own tools is a cancel of the task: it gets its record and its final state.
  CancellationScope.current().cancelRequested.catch(() => requestCancel('operator'));

  await CancellationScope.nonCancellable(async () => {
    const end = await runTask(state, createPort(state, start.options), cuts);
    await condition(allHandlersFinished);
    if (end === 'carry_over') await continueAsNew<typeof TaskWorkflow>({ ...start, state });
  });
}
