// svc_list_shares: the person's shares, or those that people gave to the business; live ones only.
import { z } from "@hono/zod-openapi";
import type { MemberSession } from "../../../core/access/session.ts";
import { personOfAgent, type Agent } from "../../../core/agents/token.ts";
import { shareStatuses } from "../../../core/shares/share.ts";
import { sharesSchema, sharesToWire } from "../../api/shares/schema.ts";
import { listOwnShares } from "../../operations/consumers/profile.ts";
import { listShares as listSharesOfBusiness, type SharePage } from "../../operations/shares/read.ts";
import { foreignInShares, oneOf, wholeNumber } from "../arguments.ts";
import type { Services } from "../../services.ts";
import { readingHints, tool } from "../tool.ts";

interface Asked {
  readonly status: (typeof shareStatuses)[number] | null;
  readonly limit: number;
}

const ofPerson = async (services: Services, agent: Agent, { status, limit }: Asked): Promise<SharePage> => {
  const { shares, hasMore } = await listOwnShares(services, personOfAgent(agent));
  const wanted = status === null ? shares : shares.filter((share) => share.status === status);
  return { shares: wanted.slice(0, limit), hasMore: hasMore || wanted.length > limit };
};

const ofBusiness = async (services: Services, business: MemberSession["business"], asked: Asked): Promise<SharePage> => {
  const page = await listSharesOfBusiness(services, { business, environment: "live" }, { ...asked, startingAfter: null });
  if (!page.ok) throw new Error(`agents: ${page.code}`); // it is refused for a place to start, and none was given
  return page.value;
};

export const listShares = tool({
  name: "svc_list_shares",
  title: "List shares",
  descriptions: {
    consumer:
      "Shares you gave to businesses, those that are active first, then newest first. With status, fields in scope, purpose, expiry and duty to stop contact.",
    business: "Shares people gave to this business, newest first. With status, fields in scope, purpose, expiry and duty to stop contact.",
  },
  hints: readingHints,
  takes: z.strictObject({
    status: oneOf(shareStatuses).optional().describe("Only those in this state."),
    limit: wholeNumber(1, 200).default(50).describe("How many shares at most."),
  }),
  gives: sharesSchema,
  foreign: foreignInShares,
  run: async ({ services, agent }, { status = null, limit }) => {
    const asked = { status, limit };
    const page = agent.realm === "consumer" ? await ofPerson(services, agent, asked) : await ofBusiness(services, agent.business, asked);
    return { ok: true, data: sharesToWire(page, services.clock()) };
  },
});
