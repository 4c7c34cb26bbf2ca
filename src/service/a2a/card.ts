import { AgentCard } from '@a2a-js/sdk';
import type { JsonObject } from '../../core/base/index.ts';
import type { Command } from '../../core/commands/index.ts';
import { EXTENSION, MEDIA_TYPE } from '../../core/extensions/index.ts';

/** What the card says of the agent; the rest is what the server can do. */
export interface CardOptions {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly tags: readonly string[];
    readonly examples: readonly string[];
  }[];
  /** In the order in which clients list them. */
  readonly commands: readonly Command[];
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

const EXTENSIONS: readonly { readonly uri: string; readonly description: string }[] = [
  {
    uri: EXTENSION.task,
    description: 'Task data: goal, criteria, participants, plan; envelopes to the harness.',
  },
  { uri: EXTENSION.channel, description: 'Messages and questions between the agent and its participants.' },
  { uri: EXTENSION.status, description: 'Why a task waits.' },
  { uri: EXTENSION.commands, description: 'Slash commands, which run without the model.' },
  { uri: EXTENSION.progress, description: 'What a task is doing, and its text while it is generated.' },
];

const OUTPUT_MODES = ['text/plain', MEDIA_TYPE.task, MEDIA_TYPE.channel];

/** The agent card (AS-2): only what this server does. */
export function buildCard(options: CardOptions): AgentCard {
  const params = paramsOf(options.commands);
  return {
    name: options.name,
    description: options.description,
    version: options.version,
    supportedInterfaces: [
      { url: `${options.publicUrl}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
      { url: options.publicUrl, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
    ],
    provider: undefined,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: EXTENSIONS.map((extension) => ({
        ...extension,
        required: false,
        params: params[extension.uri],
      })),
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain', MEDIA_TYPE.task, MEDIA_TYPE.channel, MEDIA_TYPE.event],
    defaultOutputModes: OUTPUT_MODES,
    skills: options.skills.map((skill) => ({
      id: skill.id,
      name: skill.name,
      description: skill.description,
      tags: [...skill.tags],
      examples: [...skill.examples],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    })),
    signatures: [],
  };
}

/**
 * The parameters of extensions, by URI. A reader of the commands drops them all when one has another key, so the schemas
 * of their arguments stand elsewhere.
 */
function paramsOf(commands: readonly Command[]): Readonly<Record<string, JsonObject>> {
  return {
    [EXTENSION.commands]: {
      commands: commands.map(({ name, description, argumentHint }) => ({
        name,
        description,
        argument_hint: argumentHint,
      })),
    },
    [EXTENSION.progress]: {
      argument_schemas: Object.fromEntries(
        commands.flatMap(({ name, argumentSchema }) => (argumentSchema ? [[name, argumentSchema]] : [])),
      ),
    },
  };
}

/** The extensions a client may activate. */
export const SUPPORTED_EXTENSIONS: ReadonlySet<string> = new Set(
  EXTENSIONS.map((extension) => extension.uri),
);

/** The card as it goes over the wire. */
export function serializeCard(card: AgentCard): string {
  return JSON.stringify(AgentCard.toJSON(card));
}
