// svc_get_share returns one of the person's shares, or a share that the business has received. It can also ask the client to open the
// share's page in the app, because a person can give consent only there.
import { z } from "@hono/zod-openapi";
import { personFromAgent } from "../../../core/agents/agent-token.ts";
import { parseShareId } from "../../../core/ids.ts";
import { shareDetailToWire, shareSchema, shareToWire } from "../../api/shares/schema.ts";
import { getOwnShare } from "../../operations/shares/get-own-share.ts";
import { getBusinessShare } from "../../operations/shares/get-business-share.ts";
import { untrustedShareFields, shareNotFoundResult, shareIdArgument, enumArgument } from "../tool-arguments.ts";
import { readOnlyHints, defineTool } from "../tool.ts";

const inputSchema = z.strictObject({ share_id: shareIdArgument });

export const getShare = defineTool({
  name: "svc_get_share",
  title: "Get one share",
  descriptions: {
    consumer: "Returns one of your shares by its ID, with its fingerprint and status.",
    business: "Returns one share that a person gave this business, by its ID, with its fingerprint, status and history.",
  },
  hints: readOnlyHints,
  inputSchema,
  outputSchema: shareSchema, // results for a business have more keys, which the published schema allows
  untrustedFields: untrustedShareFields,
  run: async ({ services, agent }, { share_id: text }) => {
    const id = parseShareId(text);
    const now = services.clock();
    if (agent.realm === "consumer") {
      const share = await getOwnShare(services, personFromAgent(agent), id);
      return share.ok ? { ok: true, data: shareToWire(share.value.share, now) } : shareNotFoundResult;
    }
    const detail = await getBusinessShare(services, { business: agent.business, environment: "live" }, id);
    return detail.ok ? { ok: true, data: shareDetailToWire(detail.value, now) } : shareNotFoundResult;
  },
  handOver: {
    inputSchema: inputSchema.extend({
      hand_over: enumArgument(["review", "renew"])
        .optional()
        .describe("Opens a page for the person: review (to look at the share or stop sharing) or renew. Opening the page changes nothing."),
    }),
    getPath: ({ share_id: text, hand_over: page }) => {
      if (page === undefined) return null;
      const path = `/app/shares/${parseShareId(String(text))}`;
      return page === "renew" ? `${path}/renew` : path;
    },
  },
});
