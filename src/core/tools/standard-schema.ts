/**
 * The parts of Standard Schema and Standard JSON Schema (https://standardschema.dev) that `defineTool` reads. The
 * specification asks libraries to copy its types instead of depending on them.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      /** Throws when the schema has no JSON form. */
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** What `validate` answers. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem, with the path of the value it is about. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Types<S extends StandardSchema> = NonNullable<S['~standard']['types']>;
/** The type a schema accepts. */
export type InferInput<S extends StandardSchema> = Types<S>['input'];
/** The type a schema yields. */
export type InferOutput<S extends StandardSchema> = Types<S>['output'];

/** An issue in the words of `compileSchema`: `/items/0/name must be a string`. */
export function issueText({ message, path = [] }: StandardIssue): string {
  const steps = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return steps.length === 0 ? message : `/${steps.join('/')} ${message}`;
}
