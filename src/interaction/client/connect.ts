import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { EXTENSION } from '../../core/extensions/index.ts';
import { asAgentError } from './errors.ts';

export interface ConnectOptions {
  /** Where the agent's card is: its public URL, with or without a slash at the end. */
  readonly url: string;
  /** Who speaks: the `X-Participant-Id` of every request. */
  readonly participant: string;
  /** Ends every request. */
  readonly signal: AbortSignal;
}

/** An agent as one participant reaches it. */
export interface AgentConnection extends ConnectOptions {
  /** The agent's name, from its card. */
  readonly agent: string;
  readonly sdk: Client;
}

const ACTIVATED = [EXTENSION.task, EXTENSION.channel, EXTENSION.status, EXTENSION.progress].join(', ');

/**
 * Reads the agent's card and makes a client that speaks as `participant`, with our extensions activated.
 *
 * @throws AgentError when nobody answers, or what answers is no A2A agent; the signal's reason when it aborts.
 */
export async function connectAgent(options: ConnectOptions): Promise<AgentConnection> {
  const { participant, signal } = options;
  const url = options.url.endsWith('/') ? options.url : `${options.url}/`;
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-participant-id', participant);
    headers.set('a2a-extensions', ACTIVATED);
    return fetch(input, { ...init, headers, signal });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  try {
    const sdk = await factory.createFromUrl(url);
    const { name } = await sdk.getAgentCard();
    return { url, participant, signal, agent: name, sdk };
  } catch (error) {
    signal.throwIfAborted();
    throw asAgentError(error, url);
  }
}
