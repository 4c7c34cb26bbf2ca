import type { JsonObject } from '../base/index.ts';
import type { ApprovalDecision, ApprovalInput } from '../hooks/index.ts';
import { compileSchema, type ToolAnnotations } from '../tools/index.ts';

/** What a tool says of what its calls do. */
export type ToolHints = Omit<ToolAnnotations, 'title'>;

/** What becomes of the calls that it matches (PC-12). Everything it names must hold. */
export interface ApprovalRule {
  /**
   * A tool's whole name, an intrinsic's bare one included. `*` stands for any characters, `/` too, or for none; case
   * counts.
   */
  readonly tool: string;
  /**
   * The hints that a tool must have. One that a tool does not state has MCP's default: a tool that says nothing may
   * destroy, is not safe to repeat and reaches the world outside; one that only reads destroys nothing. Hints are a
   * server's word, and prove nothing.
   */
  readonly annotations?: ToolHints;
  /** JSON Schema that the arguments must satisfy. */
  readonly arguments?: JsonObject;
  readonly decision: 'allow' | 'ask' | 'deny';
  /** What the model, or whoever is asked, reads. */
  readonly reason?: string;
}

/**
 * What the rules say about a call: the first that matches decides; with none, it is allowed. Tools of the harness itself
 * are tools.
 *
 * @throws HarnessError `plugin.invalid` for a rule whose schema does not compile.
 */
export function decideApproval(rules: readonly ApprovalRule[], call: ApprovalInput): ApprovalDecision {
  const rule = rules.find((each) => matches(each, call));
  if (rule === undefined) return { decision: 'allow' };
  const { decision, reason } = rule;
  return reason === undefined ? { decision } : { decision, reason };
}

function matches(rule: ApprovalRule, call: ApprovalInput): boolean {
  return (
    matchesName(rule.tool, call.name) &&
    (rule.annotations === undefined || matchesHints(rule.annotations, call.annotations)) &&
    (rule.arguments === undefined || compileSchema(rule.arguments)(call.arguments).ok)
  );
}

function matchesName(pattern: string, name: string): boolean {
  const [start = '', ...between] = pattern.split('*');
  const end = between.pop();
  if (end === undefined) return name === pattern;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of between) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - end.length >= at && name.endsWith(end);
}

function matchesHints(wanted: ToolHints, annotations: ToolAnnotations): boolean {
  const has = hintsOf(annotations);
  return (Object.keys(wanted) as (keyof ToolHints)[]).every((hint) => wanted[hint] === has[hint]);
}

/** The hints of a tool, with MCP's defaults for those it does not state. */
function hintsOf(annotations: ToolAnnotations): Required<ToolHints> {
  const readOnlyHint = annotations.readOnlyHint ?? false;
  return {
    readOnlyHint,
    destructiveHint: annotations.destructiveHint ?? !readOnlyHint,
    idempotentHint: annotations.idempotentHint ?? readOnlyHint,
    openWorldHint: annotations.openWorldHint ?? true,
  };
}
