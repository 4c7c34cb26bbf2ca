import { TaskState, taskStateToJSON } from '@a2a-js/sdk';
import type { TaskState as State } from '../../core/loop/index.ts';

/** A task's states as A2A numbers them. */
export const WIRE_STATE: Readonly<Record<State, TaskState>> = {
  SUBMITTED: TaskState.TASK_STATE_SUBMITTED,
  WORKING: TaskState.TASK_STATE_WORKING,
  INPUT_REQUIRED: TaskState.TASK_STATE_INPUT_REQUIRED,
  AUTH_REQUIRED: TaskState.TASK_STATE_AUTH_REQUIRED,
  COMPLETED: TaskState.TASK_STATE_COMPLETED,
  FAILED: TaskState.TASK_STATE_FAILED,
  CANCELED: TaskState.TASK_STATE_CANCELED,
  REJECTED: TaskState.TASK_STATE_REJECTED,
};

/** The states by the names and numbers that protobuf's JSON has for them. */
export const STATE_NAMES: ReadonlyMap<string | number, State> = new Map(
  Object.entries(WIRE_STATE).flatMap(([state, wire]): [string | number, State][] => [
    [taskStateToJSON(wire), state as State],
    [wire, state as State],
  ]),
);
