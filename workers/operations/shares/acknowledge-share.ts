// Implements POST /v1/shares/{id}/cease-ack. Confirms that the business has stopped contacting the person after a share was revoked.
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { BusinessScope } from "../../../core/access/principal.ts";
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

/**
 * Records the acknowledgment and emails the person. A second acknowledgment changes nothing and returns the first one (SPEC Share). For a
 * test share, the recorded times are in sandbox time. Returns the first of these errors that applies:
 * - the errors of `authorizeWrite`
 * - `not_found`
 * - `cease_not_open` if the share was not revoked
 * - `storage_unavailable` if concurrent changes made every attempt fail
 */
export const acknowledgeShare = async (
  services: WriteDependencies,
  { business, environment }: BusinessScope,
  actor: Actor,
  id: ShareId | null,
  { requestId, ...details }: CeaseDetails & { readonly requestId: string },
  saveIdempotentResponse: SaveIdempotentResponse<CeasedShare> = async () => [],
): Promise<Result<CeasedShare>> => {
  const writable = authorizeWrite(business.status);
  if (!writable.ok) return writable;
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  const { vault } = services;
  // If another acknowledgment is committed first, the next attempt returns it.
  return retryOnConflict([isOutdatedShare], async () => {
    const writtenAt = services.clock();
    const found = await findChangeableShare(db, id, { businessId: business.id, environment }, writtenAt);
    if (found === null) return refuse("not_found");
    const { share, chains, consumerId, language } = found;
    const now = writtenAt + share.clockOffsetMs;
    if (share.status === "ceased") return ok({ share, isRepeated: true });
    if (share.status !== "revoked") return refuse("cease_not_open");
    const statements = await updateShareCeased(db, vault, share, details, { now, requestId });
    const mail = await prepareAcknowledgementMail(services, db, consumerId, share, { at: now, note: details.note, language });
    const ceased: CeasedShare = { share: { ...share, status: "ceased", acknowledgedAt: now }, isRepeated: false };
    const saved = await saveIdempotentResponse(ceased);
    await commit(
      db,
      services,
      [...statements, ...mail, ...saved],
      [withRecordedTime(acknowledgeShareCease(share, chains, actor, now), writtenAt)],
    );
    services.scheduleMail();
    return ok(ceased);
  });
};
