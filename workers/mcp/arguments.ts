// Arguments of tools: their schemas, and what is said of those that break one. The words are constant; what was sent is never repeated.
import { z } from "@hono/zod-openapi";
import { refusals } from "../../core/refusals.ts";
import type { Refusal } from "../../core/result.ts";
import type { ToolAnswer } from "./tool.ts";

export const wholeNumber = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
};

export const oneOf = <const T extends string>(words: readonly T[]) =>
  z.enum(words as readonly [T, ...T[]], {
    error: ({ input }) => (input === undefined ? `is missing; it is one of: ${words.join(", ")}` : `must be one of: ${words.join(", ")}`),
  });

/** What an operation says of an argument: the same sentence as in the API, which never repeats a value. */
export const refusedArgument = ({ detail, code }: Refusal): ToolAnswer => ({ ok: false, text: detail ?? refusals[code] });

/** The first broken rule, by the name of the argument. */
export const argumentFault = (takes: z.ZodObject, { issues: [issue] }: z.ZodError): string => {
  const name = issue?.path[0];
  const known = `arguments this tool takes: ${Object.keys(takes.shape).join(", ")}`;
  if (typeof name === "string" && Object.hasOwn(takes.shape, name)) return `argument ${name} ${issue?.message}`;
  return known;
};

const where = "svc_list_shares shows the ids";

export const shareIdArgument = z
  .string({ error: ({ input }) => (input === undefined ? `is missing; ${where}` : `must be a text; ${where}`) })
  .max(64, `must be the id of a share; ${where}`)
  .describe(`shr_…; ${where}.`);

/** The same for an id that nobody has, for another's share, and for what is no id of a share. */
export const noSuchShare: ToolAnswer = { ok: false, text: `no such share for this token; ${where}` };

/** Members of a share's answer that hold what others wrote. */
export const foreignInShares = ["name", "purpose", "origin", "disclosure_text", "reason"] as const;
