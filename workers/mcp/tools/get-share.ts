// svc_get_share: one share of the person, or one that was given to the business. It can also bring the person to their own page of the
// share, which is the only place where somebody agrees to something.
import { z } from "@hono/zod-openapi";
import { personOfAgent } from "../../../core/agents/token.ts";
import { shareIdOf } from "../../../core/ids.ts";
import { shareDetailToWire, shareSchema, shareToWire } from "../../api/shares/schema.ts";
import { readOwnShare } from "../../operations/shares/read.ts";
import { readShare } from "../../operations/shares/read.ts";
import { foreignInShares, noSuchShare, shareIdArgument, oneOf } from "../arguments.ts";
import { readingHints, tool } from "../tool.ts";

const takes = z.strictObject({ share_id: shareIdArgument });

export const getShare = tool({
  name: "svc_get_share",
  title: "Get one share",
  descriptions: {
    consumer: "One of your shares by its id, with fingerprint and status.",
    business: "One share given to this business by its id, with fingerprint, status and history.",
  },
  hints: readingHints,
  takes,
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
  handsOver: {
    takes: takes.extend({
      hand_over: oneOf(["review", "renew"])
        .optional()
        .describe("Brings the person to their own page of this share, to look at it (and stop it) or to renew it. Nothing is done by it."),
    }),
    pathOf: ({ share_id: text, hand_over: page }) => {
      if (page === undefined) return null;
      const path = `/app/shares/${shareIdOf(String(text))}`;
      return page === "renew" ? `${path}/renew` : path;
    },
  },
});
