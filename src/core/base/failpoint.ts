/**
 * Named points at which a test can kill the process, to prove what survives. Inert unless the process was started with
 * `TINY_HARNESS_FAILPOINT`.
 */
export const FAILPOINTS = [
  'admission.stored',
  'admission.delivered',
  'model_turn.called',
  'model_turn.saved',
  'tool.ran',
  'tool.saved',
  'commit.saved',
  'channel.stored',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Passes a failpoint. Does nothing outside tests. */
export type PassFailpoint = (point: Failpoint) => void;
