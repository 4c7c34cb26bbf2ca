import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { HarnessError, type JsonObject, messageOf } from '../base/index.ts';

/** What `ValidateArguments` says: the value as it came, or every problem with the path it is at. */
export type ValidationResult =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Checks arguments against one compiled schema. Never throws and never changes the value. */
export type ValidateArguments = (args: JsonObject) => ValidationResult;

/** A model learns nothing from the fiftieth problem, and a hostile value could have millions. */
const MAX_PROBLEMS = 20;

const OPTIONS: Options = {
  // Schemas come from other people's servers: keywords and formats we do not know are theirs to have.
  strict: false,
  validateFormats: false,
  logger: false,
  allErrors: true,
  // Two tools may carry the same `$id`.
  addUsedSchema: false,
};

let current: Ajv2020 | undefined;
let draft07: Ajv | undefined;
const compiled = new WeakMap<JsonObject, ValidateArguments>();

/**
 * Compiles a JSON Schema, once per schema object (TL-3). 2020-12 unless `$schema` says draft-06 or draft-07, which
 * many MCP servers still send.
 *
 * @throws HarnessError `plugin.invalid` when the schema does not compile.
 */
export function compileSchema(schema: JsonObject): ValidateArguments {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const validate = compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/**
 * Checks a schema that is a user's own: a keyword that nobody knows is a slip of the pen, and the schema would say less
 * than was meant.
 *
 * @throws HarnessError `plugin.invalid` when the schema does not compile, or has a keyword that JSON Schema has not.
 */
export function assertStrictSchema(schema: JsonObject): void {
  const options = { ...OPTIONS, strictSchema: true };
  compile(schema, (dialect) => (isOlder(dialect) ? new Ajv(options) : new Ajv2020(options)));
}

/** Made on first use: a process without tools pays nothing. */
function compilerFor(dialect: unknown): Ajv {
  if (isOlder(dialect)) {
    draft07 ??= new Ajv(OPTIONS);
    return draft07;
  }
  current ??= new Ajv2020(OPTIONS);
  return current;
}

function isOlder(dialect: unknown): boolean {
  return typeof dialect === 'string' && /draft-0[67]/.test(dialect);
}

function compile(schema: JsonObject, compiler = compilerFor): ValidateArguments {
  const { $schema: dialect, ...rest } = schema;
  let check: ReturnType<Ajv['compile']>;
  try {
    const ajv = compiler(dialect);
    check = ajv.compile(rest);
    // Ajv would hold every schema for ever; the cache above lets them go with their tools.
    ajv.removeSchema(rest);
  } catch (error) {
    throw new HarnessError('plugin.invalid', `the JSON schema does not compile: ${messageOf(error)}`, {
      cause: error,
    });
  }
  // An `$async` validator answers with a promise, which reads as "valid".
  if ('$async' in check)
    throw new HarnessError('plugin.invalid', 'the JSON schema does not compile: "$async" is not supported');
  return (args) =>
    check(args) === true
      ? { ok: true, value: args }
      : { ok: false, problems: problemsOf(check.errors ?? []) };
}

function problemsOf(errors: readonly ErrorObject[]): string[] {
  const problems = [...new Set(errors.map(problemOf))];
  const more = problems.length - MAX_PROBLEMS;
  return more > 0 ? [...problems.slice(0, MAX_PROBLEMS), `and ${more} more`] : problems;
}

function problemOf({ instancePath, keyword, params, message }: ErrorObject): string {
  const at = instancePath === '' ? 'the arguments' : instancePath;
  const what = `${at} ${message ?? `fails "${keyword}"`}`;
  const given = params as Record<string, unknown>;
  if (keyword === 'additionalProperties') return `${what}: "${String(given.additionalProperty)}"`;
  if (keyword === 'unevaluatedProperties') return `${what}: "${String(given.unevaluatedProperty)}"`;
  if (keyword === 'enum') return `${what}: ${JSON.stringify(given.allowedValues)}`;
  if (keyword === 'const') return `${what}: ${JSON.stringify(given.allowedValue)}`;
  return what;
}
