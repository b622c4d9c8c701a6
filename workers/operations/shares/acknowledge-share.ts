// The business says that it has ceased contact under a share that was stopped. Once a share; a second time answers with the first.
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { Principal } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { withRecordedTime } from "../../../core/domain-events.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { acknowledgeShareCease } from "../../../core/shares/revocation.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { CeaseDetails } from "../../../core/withdrawals/cease-acknowledgment.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import { isOutdatedShare, updateShareCeased } from "../../../storage/share-changes.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { prepareAcknowledgementMail } from "./share-mails.ts";

export interface CeasedShare {
  readonly share: Share;
  readonly isRepeated: boolean;
}

/** Refuses writing while a payment is due, then `not_found`, then `cease_not_open` (nobody has stopped it). */
export const acknowledgeShare = async (
  services: WriteDependencies,
  { business, environment }: Pick<Principal, "business" | "environment">,
  actor: Actor,
  id: ShareId | null,
  details: CeaseDetails,
  requestId: string,
  keep?: SaveIdempotentResponse<CeasedShare>,
): Promise<Result<CeasedShare>> => {
  const writable = authorizeWrite(business.status);
  if (!writable.ok) return writable;
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  const { vault } = services;
  // Where another acknowledgement was first, the second reading answers with it.
  return retryOnConflict([isOutdatedShare], async () => {
    const written = services.clock();
    const found = await findChangeableShare(db, id, { businessId: business.id, environment }, written);
    if (found === null) return refuse("not_found");
    const { share, chains, consumerId, language } = found;
    const now = written + share.clockOffsetMs;
    if (share.status === "ceased") return ok({ share, isRepeated: true });
    if (share.status !== "revoked") return refuse("cease_not_open");
    const rows = await updateShareCeased(db, vault, share, details, { now, requestId });
    const mail = await prepareAcknowledgementMail(services, db, consumerId, share, { at: now, note: details.note, language });
    const ceased: CeasedShare = { share: { ...share, status: "ceased", acknowledgedAt: now }, isRepeated: false };
    const kept = (await keep?.(ceased)) ?? [];
    await commit(db, services, [...rows, ...mail, ...kept], [withRecordedTime(acknowledgeShareCease(share, chains, actor, now), written)]);
    services.scheduleMail();
    return ok(ceased);
  });
};
