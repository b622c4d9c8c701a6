// svc_get_audit: the history of the person, or of the business, newest first.
import { z } from "@hono/zod-openapi";
import { toWire, trailSchema } from "../../api/audit/schema.ts";
import { auditTrail } from "../../operations/audit/trail.ts";
import { wholeNumber } from "../arguments.ts";
import { StorageAway, readingHints, tool } from "../tool.ts";

export const getAudit = tool({
  name: "svc_get_audit",
  title: "Read the audit history",
  descriptions: {
    consumer: "Your own tamper-evident history, newest first.",
    business: "The tamper-evident history of this business, newest first.",
  },
  hints: readingHints,
  takes: z.strictObject({
    limit: wholeNumber(1, 100).default(20).describe("How many entries at most."),
    before_seq: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe("Entries before this one: next_before_seq of the page before."),
  }),
  gives: trailSchema,
  foreign: [], // hashes, words and ids of ours
  run: async ({ services, agent }, { limit, before_seq: beforeSeq = null }) => {
    const trail = await auditTrail(services, { id: agent.ownerId, chain: agent.chain }, { limit, beforeSeq });
    if (!trail.ok) throw new StorageAway();
    return { ok: true, data: toWire(trail.value) };
  },
});
