// svc_get_audit returns the audit trail of the person or business, newest first.
import { z } from "@hono/zod-openapi";
import { auditTrailToWire, auditTrailSchema } from "../../api/audit/schema.ts";
import { getAuditTrail } from "../../operations/audit/get-audit-trail.ts";
import { integerArgument, toolResultFromRefusal } from "../tool-arguments.ts";
import { readOnlyHints, defineTool } from "../tool.ts";

export const getAudit = defineTool({
  name: "svc_get_audit",
  title: "Read the audit trail",
  descriptions: {
    consumer: "Returns the tamper-evident audit trail of your account, newest first.",
    business: "Returns the tamper-evident audit trail of this business, newest first.",
  },
  hints: readOnlyHints,
  inputSchema: z.strictObject({
    limit: integerArgument(1, 100).default(20).describe("Maximum number of entries."),
    before_seq: integerArgument(1, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe("Return only entries with a lower seq. Send next_before_seq from the previous page."),
  }),
  outputSchema: auditTrailSchema,
  untrustedFields: [], // audit entries contain no text written by third parties
  run: async ({ services, agent }, { limit, before_seq: beforeSeq = null }) => {
    const trail = await getAuditTrail(services, { id: agent.ownerId, chain: agent.chain }, { limit, beforeSeq });
    return trail.ok ? { ok: true, data: auditTrailToWire(trail.value) } : toolResultFromRefusal(trail);
  },
});
