/** What an approval may be answered with. */
export const APPROVAL_OPTIONS = ['approve', 'deny'] as const;

export type ApprovalChoice = (typeof APPROVAL_OPTIONS)[number];

/**
 * The choice a text makes: exactly one of the options, with nothing but white space around it. Anything else ("approve
 * it", "sure, but only 10") is an ordinary message, and undefined.
 */
export function choiceOf(text: string): ApprovalChoice | undefined {
  const words = text.trim();
  return APPROVAL_OPTIONS.find((option) => option === words);
}
