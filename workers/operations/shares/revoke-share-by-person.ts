// Lets a person revoke a share, either while signed in or with the link from an email.
import type { Person } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Share } from "../../../core/shares/share.ts";
import { replaceRefusedCharacters, trimWhiteSpace } from "../../../core/text.ts";
import type { Instant } from "../../../core/time.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { isOutdatedShare } from "../../../storage/share-changes.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { commitRevocation, type RevocationResult } from "./commit-revocation.ts";
import { isRevokeToken } from "./revoke-link.ts";

/** The signed-in person, or the token from a revoke link. */
export type ShareRevoker = { readonly person: Person } | { readonly token: string };

export type RevocationRefusal = "invalid_request" | "unauthorized" | "not_found" | "share_inactive" | "storage_unavailable";

const maxReasonLength = 200;

/**
 * Returns the reason on one line, or null if it is empty. Refuses only a reason that is too long. Characters that cannot be stored become
 * U+FFFD, because an optional text must not keep a person from revoking a share.
 */
const parseReason = (text: string | null): Result<string | null, "invalid_request"> => {
  const reason = trimWhiteSpace(text ?? "").replace(/[\t\r\n\u2028\u2029]+/g, " ");
  if (reason.length > maxReasonLength) return refuse("invalid_request", `reason: must be at most ${maxReasonLength} characters.`);
  return ok(replaceRefusedCharacters(reason) || null);
};

/** Returns the earlier revocation if the share was already revoked, and `share_inactive` if it ended in another way. */
const repeatRevocation = (share: Share): Result<RevocationResult, "share_inactive"> =>
  share.status === "revoked" || share.status === "ceased"
    ? ok({ share, ceaseBy: share.ceaseBy as Instant, isRepeated: true })
    : refuse("share_inactive");

/**
 * Revokes the share, regardless of the business's billing status (SPEC Share). A repeated call returns the first revocation. Returns
 * `invalid_request` for a reason over 200 characters, `unauthorized` for a wrong token, `not_found` for unknown shares and other people's
 * shares, `share_inactive` for a share that has expired or was superseded, and `storage_unavailable` if concurrent changes made every
 * attempt fail.
 */
export const revokeShareByPerson = async (
  services: WriteDependencies,
  id: ShareId | null,
  revoker: ShareRevoker,
  request: { readonly reason: string | null; readonly requestId: string },
  saveIdempotentResponse?: SaveIdempotentResponse<RevocationResult>,
): Promise<Result<RevocationResult, RevocationRefusal>> => {
  const reason = parseReason(request.reason);
  if (!reason.ok) return reason;
  const isLink = "token" in revoker;
  if (isLink && (id === null || !(await isRevokeToken(services, id, revoker.token)))) return refuse("unauthorized");
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  const owner = isLink ? "link" : { consumerId: revoker.person.id };
  const actor: Actor = isLink ? { kind: "subject", verifiedBy: "revoke_link" } : revoker.person.actor;
  // If the share ends in the meantime, the next attempt returns the earlier revocation or `share_inactive`.
  return retryOnConflict([isOutdatedShare], async () => {
    const found = await findChangeableShare(db, id, owner, services.clock());
    if (found === null) return refuse("not_found");
    if (found.share.status !== "active") return repeatRevocation(found.share);
    return ok(
      await commitRevocation(services, db, found, { actor, reason: reason.value, requestId: request.requestId }, saveIdempotentResponse),
    );
  });
};
