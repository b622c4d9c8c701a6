// The decisions that follow a grant: the person takes it back, the business acknowledges (SPEC, States and transitions, Share).
import type { Person } from "../access/principal.ts";
import type { Actor } from "../actor.ts";
import { ceaseBy } from "../business-days.ts";
import type { AuditChain, Fact, FactChain } from "../facts.ts";
import { isoOf, type Instant } from "../time.ts";
import { toldToBusiness } from "./grant.ts";
import { originDomain, type Share } from "./share.ts";

/** The chains that tell of a share. */
export interface ShareChains {
  readonly business: AuditChain;
  /** Null for a test person, and once the account is erased. */
  readonly person: AuditChain | null;
}

const factOf = (input: {
  readonly type: "share.revoked" | "business.ceased";
  readonly share: Share;
  readonly chains: ShareChains;
  readonly actor: Actor;
  readonly payload: Fact["payload"];
  readonly now: Instant;
}): Fact => {
  const { type, share, chains, actor, payload, now } = input;
  const business: FactChain = { ...chains.business, told: { actor: toldToBusiness(actor), payload } };
  return {
    type,
    entityType: "share",
    entityId: share.id,
    at: now,
    chains: [business, ...(chains.person === null ? [] : [chains.person])],
    actor,
    payload: { ...payload, business_id: share.business.id },
    anchor: { fingerprint: share.fingerprint, originDomain: originDomain(share.origin) },
    businessId: share.business.id,
    environment: share.environment,
  };
};

export interface Revocation {
  readonly revokedAt: Instant;
  readonly ceaseBy: Instant;
  readonly fact: Fact;
}

export const revokeShare = (share: Share, chains: ShareChains, actor: Person["actor"], now: Instant): Revocation => {
  const deadline = ceaseBy(now);
  const payload = { fingerprint: share.fingerprint, cease_by: isoOf(deadline) };
  return { revokedAt: now, ceaseBy: deadline, fact: factOf({ type: "share.revoked", share, chains, actor, payload, now }) };
};

/** Of a revoked share. */
export const acknowledgeShare = (share: Share, chains: ShareChains, actor: Actor, now: Instant): Fact => {
  const deadline = share.ceaseBy as Instant;
  const payload = { fingerprint: share.fingerprint, cease_by: isoOf(deadline), on_time: now <= deadline };
  return factOf({ type: "business.ceased", share, chains, actor, payload, now });
};
