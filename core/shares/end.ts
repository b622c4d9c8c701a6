// The decisions that follow a grant: the person takes it back, the business acknowledges (SPEC, States and transitions, Share).
import type { Person } from "../access/principal.ts";
import type { Actor } from "../actor.ts";
import { ceaseBy } from "../business-days.ts";
import type { Fact } from "../facts.ts";
import { isoOf, type Instant } from "../time.ts";
import { shareFact, type ShareChains } from "./grant.ts";
import type { Share } from "./share.ts";

export interface Revocation {
  readonly revokedAt: Instant;
  readonly ceaseBy: Instant;
  readonly fact: Fact;
}

export const revokeShare = (share: Share, chains: ShareChains, actor: Person["actor"], now: Instant): Revocation => {
  const deadline = ceaseBy(now);
  const payload = { fingerprint: share.fingerprint, cease_by: isoOf(deadline) };
  return { revokedAt: now, ceaseBy: deadline, fact: shareFact("share.revoked", share, chains, now, { actor, payload }) };
};

/** Of a revoked share. */
export const acknowledgeShare = (share: Share, chains: ShareChains, actor: Actor, now: Instant): Fact => {
  const deadline = share.ceaseBy as Instant;
  const payload = { fingerprint: share.fingerprint, cease_by: isoOf(deadline), on_time: now <= deadline };
  return shareFact("business.ceased", share, chains, now, { actor, payload });
};
