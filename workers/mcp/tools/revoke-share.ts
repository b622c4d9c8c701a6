// svc_revoke_share revokes one of the person's shares immediately and permanently.
import { z } from "@hono/zod-openapi";
import { personFromAgent } from "../../../core/agents/agent-token.ts";
import { parseShareId } from "../../../core/ids.ts";
import { revokedShareSchema, revokedShareToWire } from "../../api/shares/schema.ts";
import { getOwnShare } from "../../operations/shares/get-own-share.ts";
import { revokeShareByPerson } from "../../operations/shares/revoke-share-by-person.ts";
import { untrustedShareFields, shareNotFoundResult, shareIdArgument, toolResultFromRefusal } from "../tool-arguments.ts";
import { defineTool } from "../tool.ts";

export const revokeShare = defineTool({
  name: "svc_revoke_share",
  title: "Revoke a share",
  descriptions: {
    consumer: "Revokes a share immediately. The business must stop contacting the person within 10 business days. This cannot be undone.",
  },
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  inputSchema: z.strictObject({
    share_id: shareIdArgument,
    reason: z
      .string("must be a string")
      .max(200, "must be at most 200 characters")
      .optional()
      .describe("The reason, in the person's words. The business can read it."),
  }),
  outputSchema: revokedShareSchema,
  untrustedFields: untrustedShareFields,
  run: async ({ services, agent, requestId }, { share_id: text, reason = null }) => {
    const person = personFromAgent(agent);
    const id = parseShareId(text);
    const revoked = await revokeShareByPerson(services, id, { person }, { reason, requestId });
    if (revoked.ok) {
      const data = revokedShareToWire(revoked.value, services.clock());
      return revoked.value.isRepeated ? { ok: true, data } : { ok: true, data, isAudited: true };
    }
    if (revoked.code === "storage_unavailable" || revoked.code === "invalid_request") return toolResultFromRefusal(revoked);
    const share = await getOwnShare(services, person, id);
    return share.ok ? { ok: false, text: `This share is ${share.value.share.status}. Nothing was changed.` } : shareNotFoundResult;
  },
});
