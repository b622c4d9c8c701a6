// Arguments of tools: their schemas, and what is said of those that break one. The words are constant; what was sent is never repeated.
import { z } from "@hono/zod-openapi";
import { refusals } from "../../core/refusals.ts";
import type { Refusal } from "../../core/result.ts";
import type { ToolResult } from "./tool.ts";

export const integerArgument = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
};

export const enumArgument = <const T extends string>(words: readonly T[]) =>
  z.enum(words as readonly [T, ...T[]], {
    error: ({ input }) => (input === undefined ? `is missing; it is one of: ${words.join(", ")}` : `must be one of: ${words.join(", ")}`),
  });

/** What an operation says of an argument: the same sentence as in the API, which never repeats a value. */
export const toolResultFromRefusal = ({ detail, code }: Refusal): ToolResult => ({ ok: false, text: detail ?? refusals[code] });

/** The first broken rule, by the name of the argument. */
export const describeArgumentError = (takes: z.ZodObject, { issues: [issue] }: z.ZodError): string => {
  const name = issue?.path[0];
  const known = `arguments this tool takes: ${Object.keys(takes.shape).join(", ")}`;
  if (typeof name === "string" && Object.hasOwn(takes.shape, name)) return `argument ${name} ${issue?.message}`;
  return known;
};

const shareIdSourceHint = "svc_list_shares shows the ids";

export const shareIdArgument = z
  .string({ error: ({ input }) => (input === undefined ? `is missing; ${shareIdSourceHint}` : `must be a text; ${shareIdSourceHint}`) })
  .max(64, `must be the id of a share; ${shareIdSourceHint}`)
  .describe(`shr_…; ${shareIdSourceHint}.`);

/** The same for an id that nobody has, for another's share, and for what is no id of a share. */
export const shareNotFoundResult: ToolResult = { ok: false, text: `no such share for this token; ${shareIdSourceHint}` };

/** Members of a share's answer that hold what others wrote. */
export const untrustedShareFields = ["name", "purpose", "origin", "disclosure_text", "reason"] as const;
