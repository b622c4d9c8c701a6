// What the people of a business do in its portal, as its audit chain is told of it.
import type { MemberSession } from "../access/session.ts";
import type { JsonObject } from "../canonical-json.ts";
import type { EntityType, Fact, FactType } from "../facts.ts";
import type { Instant } from "../time.ts";

export interface PortalAct {
  readonly type: FactType;
  readonly entityType: EntityType;
  readonly entityId: string;
  /** Words, ids and hashes; nothing personal. */
  readonly payload?: JsonObject;
}

export const actFact = (member: MemberSession, { payload = {}, ...act }: PortalAct, at: Instant): Fact => ({
  ...act,
  at,
  chains: [member.business.chain],
  actor: { kind: "member", id: member.userId },
  payload,
});
