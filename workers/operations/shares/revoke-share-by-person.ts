import type { Person } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { isEqualConstantTime } from "../../../core/hash.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Share } from "../../../core/shares/share.ts";
import { parseLine } from "../../../core/text.ts";
import type { Instant } from "../../../core/time.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { isOutdatedShare } from "../../../storage/share-changes.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { commitRevocation, type RevocationResult, type RevokeServices } from "./commit-revocation.ts";
import { createRevokeToken } from "./revoke-link.ts";

/** Who revokes: the person, or whoever holds the link of the mail. */
export type ShareRevoker = { readonly person: Person } | { readonly token: string };

export type RevocationRefusal = "invalid_request" | "unauthorized" | "not_found" | "share_inactive" | "storage_unavailable";

const maxReasonLength = 200;

/** What a share answers that is over already: the same again where somebody stopped it. */
const repeatRevocation = (share: Share): Result<RevocationResult, "share_inactive"> =>
  share.status === "revoked" || share.status === "ceased"
    ? ok({ share, ceaseBy: share.ceaseBy as Instant, isRepeated: true })
    : refuse("share_inactive");

/**
 * Refuses `unauthorized` for a link that is not this share's, `not_found` for somebody else's share, `share_inactive` for one that ended
 * otherwise. Possible whatever the business has paid.
 */
export const revokeShareByPerson = async (
  services: RevokeServices,
  id: ShareId | null,
  by: ShareRevoker,
  asked: { readonly reason: string | null; readonly requestId: string },
  keep?: SaveIdempotentResponse<RevocationResult>,
): Promise<Result<RevocationResult, RevocationRefusal>> => {
  const reason = parseLine("reason", asked.reason, maxReasonLength);
  if (!reason.ok) return reason;
  const isLink = "token" in by;
  if (isLink && (id === null || !isEqualConstantTime(by.token, await createRevokeToken(services, id)))) return refuse("unauthorized");
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  const whose = isLink ? "link" : { consumerId: by.person.id };
  const actor: Actor = isLink ? { kind: "subject", verifiedBy: "revoke_link" } : by.person.actor;
  // Where it ended meanwhile, the second reading says how.
  return retryOnConflict([isOutdatedShare], async () => {
    const found = await findChangeableShare(db, id, whose, services.clock());
    if (found === null) return refuse("not_found");
    if (found.share.status !== "active") return repeatRevocation(found.share);
    return ok(await commitRevocation(services, db, found, { actor, reason: reason.value, requestId: asked.requestId }, keep));
  });
};
