import { HarnessError, isJsonObject, type JsonObject, type JsonValue, messageOf } from '../base/index.ts';
import { compileSchema } from './schema.ts';
import { type InferInput, type InferOutput, issueText, type StandardSchema } from './standard-schema.ts';
import type { Tool, ToolAnnotations, ToolContext, ToolResult } from './tool.ts';

/** `<plugin>/<tool>`; an MCP tool's second part is `<server>.<tool>` (TL-8). */
const TOOL_NAME = /^[a-z0-9][a-z0-9_-]*\/[A-Za-z0-9_.-]+$/;

interface ToolOptions<In extends StandardSchema> {
  /** `<plugin>/<tool>`. Without a plugin it becomes `app/<tool>`: a tool of the host application. */
  readonly name: string;
  /** What the model decides by: what the tool does, and when to call it. */
  readonly description: string;
  /** The arguments, an object. Any Standard Schema with a JSON form; zod 4's schemas are. */
  readonly input: In;
  readonly annotations?: ToolAnnotations;
}

/**
 * What `run` may return without an `output` schema. A string is the text, a `ToolResult` (an object with a string
 * `text` and nothing but `text`, `isError` and `data`) is the whole result, any other value becomes JSON.
 */
export type ToolReturn = JsonValue | ToolResult;

/**
 * Makes a tool from a function (TL-8). `run` gets the parsed input (defaults and transforms applied); what it throws
 * becomes an error result that the model reads. With `output`, what it returns must pass that schema and becomes the
 * data of the result.
 *
 * @throws HarnessError `plugin.invalid` for a bad name or a schema that has no JSON form or is not of an object.
 */
export function defineTool<In extends StandardSchema>(
  options: ToolOptions<In> & {
    readonly output?: undefined;
    run(input: InferOutput<In>, context: ToolContext): ToolReturn | Promise<ToolReturn>;
  },
): Tool;
export function defineTool<In extends StandardSchema, Out extends StandardSchema>(
  options: ToolOptions<In> & {
    readonly output: Out;
    run(input: InferOutput<In>, context: ToolContext): InferInput<Out> | Promise<InferInput<Out>>;
  },
): Tool;
export function defineTool(
  options: ToolOptions<StandardSchema> & {
    readonly output?: StandardSchema | undefined;
    run(input: unknown, context: ToolContext): unknown;
  },
): Tool {
  const { input, output } = options;
  const name = options.name.includes('/') ? options.name : `app/${options.name}`;
  if (!TOOL_NAME.test(name))
    throw new HarnessError('plugin.invalid', `the tool name "${name}" is not of the form <plugin>/<tool>`);
  return {
    name,
    description: options.description,
    inputSchema: inputSchemaOf(name, input),
    annotations: options.annotations ?? {},
    async run(args, context) {
      const parsed = await input['~standard'].validate(args);
      if (parsed.issues !== undefined)
        throw new HarnessError(
          'tool.invalid_arguments',
          `the arguments of ${name} are not valid: ${parsed.issues.map(issueText).join('; ')}`,
        );
      const returned = await options.run(parsed.value, context);
      return output === undefined ? resultOf(returned) : checked(name, output, returned);
    },
  };
}

function inputSchemaOf(name: string, input: StandardSchema): JsonObject {
  let schema: Record<string, unknown>;
  try {
    // `$schema` is the same for every tool: tokens that tell the model nothing.
    const { $schema: _, ...rest } = input['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    schema = rest;
  } catch (error) {
    throw new HarnessError('plugin.invalid', `the input of ${name} has no JSON schema: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (schema.type !== 'object')
    throw new HarnessError('plugin.invalid', `the input of ${name} must be an object schema`);
  const json = schema as JsonObject;
  compileSchema(json);
  return json;
}

async function checked(name: string, output: StandardSchema, returned: unknown): Promise<ToolResult> {
  const parsed = await output['~standard'].validate(returned);
  if (parsed.issues !== undefined)
    throw new HarnessError(
      'tool.failed',
      `${name} ran, but what it returned does not fit its output schema: ${parsed.issues.map(issueText).join('; ')}`,
    );
  return { text: textOf(parsed.value), data: parsed.value as JsonValue };
}

function resultOf(returned: unknown): ToolResult {
  if (typeof returned === 'string') return { text: returned };
  if (isToolResult(returned)) return returned;
  return returned === undefined
    ? { text: textOf(returned) }
    : { text: textOf(returned), data: returned as JsonValue };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

function isToolResult(value: unknown): value is ToolResult {
  return (
    isJsonObject(value) &&
    typeof value.text === 'string' &&
    Object.keys(value).every((key) => key === 'text' || key === 'isError' || key === 'data')
  );
}
