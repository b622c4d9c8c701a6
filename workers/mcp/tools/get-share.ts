// svc_get_share: one share of the person, or one that was given to the business.
import { z } from "@hono/zod-openapi";
import { personOfAgent } from "../../../core/agents/token.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { shareDetailToWire, shareSchema, shareToWire } from "../../api/shares/schema.ts";
import { readOwnShare } from "../../operations/shares/own.ts";
import { readShare } from "../../operations/shares/read.ts";
import { foreignInShares, noSuchShare, shareIdArgument } from "../shares.ts";
import { readingHints, tool } from "../tool.ts";

export const getShare = tool({
  name: "svc_get_share",
  title: "Get one share",
  descriptions: {
    consumer: "One of your shares by its id, with fingerprint and status.",
    business: "One share given to this business by its id, with fingerprint, status and history.",
  },
  hints: readingHints,
  takes: z.strictObject({ share_id: shareIdArgument }),
  gives: shareSchema, // a business is told more of it
  foreign: foreignInShares,
  run: async ({ services, agent }, { share_id: text }) => {
    const id = shareIdOf(text);
    const now = services.clock();
    if (agent.realm === "consumer") {
      const share = await readOwnShare(services, personOfAgent(agent), id);
      return share.ok ? { ok: true, data: shareToWire(share.value.share, now) } : noSuchShare;
    }
    const detail = await readShare(services, { business: agent.business, environment: "live" }, id);
    return detail.ok ? { ok: true, data: shareDetailToWire(detail.value, now) } : noSuchShare;
  },
});
