// Implements POST /v1/me/shares/{id}/renew. Replaces an active share with a new share that has the current contact fields.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, generateId, type ShareId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { decideRenewal, type GrantRefusal } from "../../../core/shares/grant.ts";
import type { Share } from "../../../core/shares/share.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { isOutdatedGrant, isOutdatedShare, updateShareSuperseded } from "../../../storage/share-changes.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { commitShare } from "./commit-share.ts";

export interface RenewalRequest {
  /** The new share's scope; null keeps the old share's scope. */
  readonly scope: readonly ContactKey[] | null;
  readonly durationDays: number | null;
  readonly language: Language;
  readonly requestId: string;
}

export interface RenewedShare {
  readonly share: Share;
  readonly superseded: ShareId;
}

export type RenewalRefusal = GrantRefusal | "not_found" | "unauthorized" | "share_inactive" | "storage_unavailable" | "rate_limited";

/**
 * Writes the new share and marks the old one as superseded, in one transaction (SPEC Share). Returns the first of these errors that
 * applies:
 * - `not_found`
 * - `unauthorized` if the person's account no longer exists
 * - `share_inactive`
 * - the errors for the business's account status
 * - `invalid_request` for a missing value
 * - `rate_limited` if a storage limit is reached
 * - `storage_unavailable` if concurrent changes made every attempt fail
 */
export const renewShare = async (
  services: ShareWriteDependencies,
  person: Person,
  id: ShareId | null,
  request: RenewalRequest,
  saveIdempotentResponse: SaveIdempotentResponse<RenewedShare> = async () => [],
): Promise<Result<RenewedShare, RenewalRefusal>> => {
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  return retryOnConflict([isOutdatedGrant, isOutdatedShare], async () => {
    const [found, stored] = await Promise.all([
      findChangeableShare(db, id, { consumerId: person.id }, services.clock()),
      findContactFields(services.shards.forId(person.id), services.vault, person.id),
    ]);
    if (found === null) return refuse("not_found");
    if (stored === null) return refuse("unauthorized");
    const client = await findGrantingClient(db, found.share.clientId);
    if (client === null) throw new Error("shares: the client of a share is missing");
    const now = services.clock();
    const shareId = generateId("shr_", shardOfId(id), services.random) as ShareId;
    const decided = decideRenewal({
      ...request,
      old: found.share,
      disclosureText: found.disclosureText,
      client,
      person,
      fields: stored.fields,
      now,
      shareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const { language, requestId } = request;
    const before = [updateShareSuperseded(db, id, shareId, now, requestId)];
    const renewed = { share: decided.value.share, superseded: id };
    const after = await saveIdempotentResponse(renewed);
    const creation = { client, person, revision: stored.revision, fieldsWrite: null, language, requestId, writtenAt: now };
    const written = await commitShare(services, db, decided.value, creation, { before, after });
    return written.ok ? ok(renewed) : written;
  });
};
