// Schemas for tool arguments and their error messages. The messages are constant and never repeat a value.
import { z } from "@hono/zod-openapi";
import { refusals } from "../../core/refusals.ts";
import type { Refusal } from "../../core/result.ts";
import { StorageUnavailableError, type ToolResult } from "./tool.ts";

export const integerArgument = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
};

export const enumArgument = <const T extends string>(values: readonly T[]) =>
  z.enum(values as readonly [T, ...T[]], {
    error: ({ input }) =>
      input === undefined ? `is missing; it must be one of: ${values.join(", ")}` : `must be one of: ${values.join(", ")}`,
  });

/** Converts an operation's refusal to a tool result, with the same message as in the API. Throws if the storage is unavailable. */
export const toolResultFromRefusal = ({ detail, code }: Refusal): ToolResult => {
  if (code === "storage_unavailable") throw new StorageUnavailableError();
  return { ok: false, text: detail ?? refusals[code] };
};

/** Returns a message that names the invalid argument and its rule. If the argument is unknown, lists the valid arguments instead. */
export const describeArgumentError = (inputSchema: z.ZodObject, { issues: [issue] }: z.ZodError): string => {
  const name = issue?.path[0];
  if (typeof name === "string" && Object.hasOwn(inputSchema.shape, name)) return `Argument ${name} ${issue?.message}.`;
  return `This tool accepts only these arguments: ${Object.keys(inputSchema.shape).join(", ")}.`;
};

const shareIdHint = "call svc_list_shares to get the IDs";

export const shareIdArgument = z
  .string({ error: ({ input }) => (input === undefined ? `is missing; ${shareIdHint}` : `must be a string; ${shareIdHint}`) })
  .max(64, `must be a share ID; ${shareIdHint}`)
  .describe(`ID of the share (shr_…); ${shareIdHint}.`);

/** The result for an unknown ID, a malformed ID and another person's share, so that callers cannot tell them apart. */
export const shareNotFoundResult: ToolResult = { ok: false, text: `Share not found for this token; ${shareIdHint}.` };

/** The keys of a share whose values were written by third parties. */
export const untrustedShareFields = ["name", "purpose", "origin", "disclosure_text", "reason"] as const;
