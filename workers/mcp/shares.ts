// What the tools about shares have in common: how an id is asked for, and what is said where there is no such share.
import { z } from "@hono/zod-openapi";
import type { ToolAnswer } from "./tool.ts";

const where = "svc_list_shares shows the ids";

export const shareIdArgument = z
  .string({ error: ({ input }) => (input === undefined ? `is missing; ${where}` : `must be a text; ${where}`) })
  .max(64, `must be the id of a share; ${where}`)
  .describe(`shr_…; ${where}.`);

/** The same for an id that nobody has, for another's share, and for what is no id of a share. */
export const noSuchShare: ToolAnswer = { ok: false, text: `no such share for this token; ${where}` };

/** Members of a share's answer that hold what others wrote. */
export const foreignInShares = ["name", "purpose", "origin", "disclosure_text", "reason"] as const;
