// State changes of a granted share: the person revokes it, and the business acknowledges the revocation (SPEC Share).
import type { Person } from "../access/principal.ts";
import type { Actor } from "../actor.ts";
import { getCeaseDeadline } from "../cease-deadline.ts";
import type { DomainEvent } from "../domain-events.ts";
import { toIso, type Instant } from "../time.ts";
import { createShareDomainEvent, type ShareAuditChains } from "./grant.ts";
import type { Share } from "./share.ts";

export interface ShareRevocation {
  readonly revokedAt: Instant;
  readonly ceaseBy: Instant;
  readonly domainEvent: DomainEvent;
}

export const revokeShare = (share: Share, chains: ShareAuditChains, actor: Person["actor"], now: Instant): ShareRevocation => {
  const deadline = getCeaseDeadline(now);
  const payload = { fingerprint: share.fingerprint, cease_by: toIso(deadline) };
  return {
    revokedAt: now,
    ceaseBy: deadline,
    domainEvent: createShareDomainEvent("share.revoked", share, chains, now, { actor, payload }),
  };
};

/** Creates the event for an acknowledgment. `share` must be revoked. */
export const acknowledgeShareCease = (share: Share, chains: ShareAuditChains, actor: Actor, now: Instant): DomainEvent => {
  const deadline = share.ceaseBy as Instant;
  const payload = { fingerprint: share.fingerprint, cease_by: toIso(deadline), on_time: now <= deadline };
  return createShareDomainEvent("business.ceased", share, chains, now, { actor, payload });
};
