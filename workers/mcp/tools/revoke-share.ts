// svc_revoke_share: the person ends a share, at once and for good.
import { z } from "@hono/zod-openapi";
import { personOfAgent } from "../../../core/agents/token.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { revokedSchema, revokedToWire } from "../../api/shares/schema.ts";
import { readOwnShare } from "../../operations/shares/read.ts";
import { revokeByPerson } from "../../operations/shares/revoke.ts";
import { foreignInShares, noSuchShare, shareIdArgument, refusedArgument } from "../arguments.ts";
import { StorageAway, tool } from "../tool.ts";

export const revokeShare = tool({
  name: "svc_revoke_share",
  title: "Revoke a share",
  descriptions: {
    consumer: "Ends a share at once and for good; the business must stop contact within 10 business days. Cannot be undone by an agent.",
  },
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  takes: z.strictObject({
    share_id: shareIdArgument,
    reason: z
      .string("must be a text")
      .max(200, "must be at most 200 characters")
      .optional()
      .describe("Why, in the person's words. The business can read it."),
  }),
  gives: revokedSchema,
  foreign: foreignInShares,
  run: async ({ services, agent, requestId }, { share_id: text, reason = null }) => {
    const person = personOfAgent(agent);
    const id = shareIdOf(text);
    const revoked = await revokeByPerson(services, id, { person }, { reason, requestId });
    if (revoked.ok) {
      const data = revokedToWire(revoked.value, services.clock());
      return revoked.value.isRepeated ? { ok: true, data } : { ok: true, data, isEntered: true };
    }
    if (revoked.code === "storage_unavailable") throw new StorageAway();
    if (revoked.code === "invalid_request") return refusedArgument(revoked);
    const share = await readOwnShare(services, person, id);
    return share.ok ? { ok: false, text: `this share is ${share.value.share.status}; nothing was changed` } : noSuchShare;
  },
});
