/** How participants' messages come in: what a surface hands over, what comes of it, and the way to the loop. */
export type {
  AdmissionOutcome,
  AdmissionPort,
  Delivery,
  DeliveryPort,
  InboundRequest,
  LoopFate,
  NewTaskDefaults,
  SubtaskRequest,
} from './inbound.ts';
export type { ChannelMedium, ChannelSender, OutboundMessage, ReceivedMessage } from './medium.ts';
export { reconcile } from './reconcile.ts';
