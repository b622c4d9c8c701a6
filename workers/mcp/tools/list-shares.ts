// svc_list_shares returns the person's shares, or the live shares that people gave the business.
import { z } from "@hono/zod-openapi";
import type { MemberSession } from "../../../core/access/session.ts";
import { personFromAgent, type Agent } from "../../../core/agents/agent-token.ts";
import { shareStatuses } from "../../../core/shares/share.ts";
import { shareListSchema, shareListToWire } from "../../api/shares/schema.ts";
import { listOwnShares } from "../../operations/consumers/list-own-shares.ts";
import type { SharePage } from "../../../storage/shares.ts";
import { listShares as listSharesOfBusiness } from "../../operations/shares/list-shares.ts";
import { untrustedShareFields, enumArgument, integerArgument } from "../tool-arguments.ts";
import type { Services } from "../../platform/platform.ts";
import { readOnlyHints, defineTool } from "../tool.ts";

interface ListSharesQuery {
  readonly status: (typeof shareStatuses)[number] | null;
  readonly limit: number;
}

const listConsumerShares = async (services: Services, agent: Agent, { status, limit }: ListSharesQuery): Promise<SharePage> => {
  const { shares, hasMore } = await listOwnShares(services, personFromAgent(agent));
  const matching = status === null ? shares : shares.filter((share) => share.status === status);
  return { shares: matching.slice(0, limit), hasMore: hasMore || matching.length > limit };
};

const listBusinessShares = async (services: Services, business: MemberSession["business"], query: ListSharesQuery): Promise<SharePage> => {
  const page = await listSharesOfBusiness(services, { business, environment: "live" }, { ...query, startingAfter: null });
  if (!page.ok) throw new Error(`agents: ${page.code}`); // cannot happen: only an invalid `startingAfter` is refused, and it is null here
  return page.value;
};

export const listShares = defineTool({
  name: "svc_list_shares",
  title: "List shares",
  descriptions: {
    consumer:
      "Returns the shares you gave to businesses, active ones first, then newest first. Includes each share's status, fields in scope, purpose, expiration and, after a revocation, the deadline to stop contact.",
    business:
      "Returns the shares that people gave to this business, newest first. Includes each share's status, fields in scope, purpose, expiration and, after a revocation, the deadline to stop contact.",
  },
  hints: readOnlyHints,
  inputSchema: z.strictObject({
    status: enumArgument(shareStatuses).optional().describe("Return only shares with this status."),
    limit: integerArgument(1, 200).default(50).describe("Maximum number of shares."),
  }),
  outputSchema: shareListSchema,
  untrustedFields: untrustedShareFields,
  run: async ({ services, agent }, { status = null, limit }) => {
    const query = { status, limit };
    const page =
      agent.realm === "consumer"
        ? await listConsumerShares(services, agent, query)
        : await listBusinessShares(services, agent.business, query);
    return { ok: true, data: shareListToWire(page, services.clock()) };
  },
});
